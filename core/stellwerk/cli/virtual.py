"""`stellwerk virtual …`: simulated Sparks on this computer, and what can be broken in them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stellwerk.cli.common import DONE, command, json_option, out, plain, table, write_json
from stellwerk.model.errors import BadInput
from stellwerk.model.units import link_speed
from stellwerk.virtual import VirtualCluster, places

dir_option = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Directory of the cluster, when more than one runs.",
)


@click.group()
def virtual() -> None:
    """Simulated Sparks on this computer: real SSH, the real agent, simulated hardware."""


@virtual.command()
@click.option("--nodes", type=int, default=2, show_default=True, help="How many, 1 to 8.")
@click.option("--topology", default="pair", show_default=True, help="single, pair, ring, chain or switch.")
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="KIND[@NODE][,NAME=VALUE…]",
    help="Break something from the start, such as half-13g@spark-2,port=1. See: stellwerk virtual fault list --all",
)
@click.option(
    "--base-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=None,
    help="Where the cluster's directory is made.",
)
@json_option
@command
async def up(nodes: int, topology: str, faults: tuple[str, ...], base_dir: Path | None, json_path: str | None) -> int:
    """Start a virtual cluster and keep it until Ctrl+C."""
    wanted = [parse_fault(text) for text in faults]
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with VirtualCluster.start(nodes, topology, base_dir, wanted) as cluster:
        if json_path:
            write_json(json_path, {"dir": str(cluster.dir), "topology": topology, "nodes": cluster.nodes}, private=True)
        if json_path != "-":
            _show_nodes(cluster)
        await stopped.wait()
    return DONE


def _show_nodes(cluster: VirtualCluster) -> None:
    rows = table("Node", "SSH", "Password", "Sudo password", title="Simulated Sparks")
    for node in cluster.nodes:
        where = f"ssh://{node.user}@{node.host}:{node.port}"
        rows.add_row(node.name, where, plain(node.password), plain(node.sudo_password))
    rows.columns[1].no_wrap = True
    keys = table("Node", "Host key")
    for node in cluster.nodes:
        keys.add_row(node.name, plain(node.host_key_fingerprint))
    out.print(rows)
    out.print()
    out.print(keys)
    out.print(f"\nDirectory {cluster.dir}. Ctrl+C ends the cluster and removes everything.")


def parse_fault(text: str) -> dict[str, Any]:
    """`half-13g@spark-2,port=1` as parameters of `VirtualCluster.set_fault`. Raises `BadInput`."""
    head, *pairs = text.split(",")
    kind, at, node = head.partition("@")
    if not kind or (at and not node):
        raise BadInput(f"{text!r} is no fault", remedy="write KIND, KIND@NODE or KIND@NODE,NAME=VALUE")
    return {"kind": kind, "node": node or None, **parse_pairs(pairs)}


def parse_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    """`port=1` and the like; numbers become numbers. Raises `BadInput`."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise BadInput(f"{pair!r} is no parameter", remedy="write NAME=VALUE, such as port=1")
        try:
            found[name] = int(value) if value.lstrip("-").isdecimal() else float(value)
        except ValueError:
            found[name] = value
    return found


@virtual.group()
def fault() -> None:
    """Break and mend things while the cluster runs."""


@fault.command("set")
@click.argument("kind")
@click.argument("node", required=False)
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]…")
@dir_option
@json_option
@command
async def set_fault(
    kind: str, node: str | None, parameters: tuple[str, ...], directory: Path | None, json_path: str | None
) -> int:
    """Break something, at once or by a trigger (after_s=…, on_command=…, after_command=…, on_step=…)."""
    words = [*([node] if node is not None else []), *parameters]
    node = words.pop(0) if words and "=" not in words[0] else None
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        faults = await cluster.set_fault(kind, node=node, **parse_pairs(words))
    return _show_faults(faults, json_path)


@fault.command("clear")
@click.argument("kind")
@click.argument("node", required=False)
@dir_option
@json_option
@command
async def clear_fault(kind: str, node: str | None, directory: Path | None, json_path: str | None) -> int:
    """Mend it again."""
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        faults = await cluster.clear_fault(kind, node=node)
    return _show_faults(faults, json_path)


@fault.command("list")
@click.option("--all", "everything", is_flag=True, help="Every kind that there is, and what it does.")
@dir_option
@json_option
@command
async def list_faults(everything: bool, directory: Path | None, json_path: str | None) -> int:
    """What is broken now."""
    if everything:
        return _show_kinds(json_path)
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        faults = await cluster.faults()
    return _show_faults(faults, json_path)


def _show_kinds(json_path: str | None) -> int:
    from stellwerk.virtual.faults import KINDS, TRIGGERS

    kinds = [{"kind": k.name, "text": k.text, "parameters": list(k.parameters)} for k in KINDS.values()]
    if json_path:
        write_json(json_path, {"kinds": kinds, "triggers": list(TRIGGERS)})
    if json_path != "-":
        rows = table("Fault", "What it does", "Parameters")
        for kind in KINDS.values():
            rows.add_row(kind.name, kind.text, ", ".join(kind.parameters))
        out.print(rows)
        out.print(f"\nEach of them can wait for a trigger: {', '.join(TRIGGERS)}.")
    return DONE


def _show_faults(faults: Sequence[Mapping[str, Any]], json_path: str | None) -> int:
    if json_path:
        write_json(json_path, {"faults": list(faults)})
    if json_path != "-":
        rows = table("Fault", "Node", "State", "Parameters")
        for entry in faults:
            more = {k: v for k, v in entry.items() if k not in ("kind", "node", "state")}
            words = ", ".join(f"{name}={value}" for name, value in more.items())
            rows.add_row(plain(entry["kind"]), plain(entry["node"]), plain(entry["state"]), plain(words))
        out.print(rows if faults else "Nothing is broken.")
    return DONE


@virtual.command()
@dir_option
@json_option
@command
async def cables(directory: Path | None, json_path: str | None) -> int:
    """Which port is joined to which."""
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        found = await cluster.cables()
    if json_path:
        write_json(json_path, {"cables": found})
    if json_path != "-":
        rows = table("Wire", "Kind", "Ends", "Speed")
        for entry in found:
            rows.add_row(plain(entry["name"]), entry["kind"], ", ".join(entry["ends"]), link_speed(entry["speed_mbps"]))
        out.print(rows if found else "No cable is plugged in.")
    return DONE


@virtual.command()
@click.argument("end")
@click.argument("to")
@dir_option
@command
async def plug(end: str, to: str, directory: Path | None) -> int:
    """Plug a cable between two ports (spark-1:0 spark-2:1), or a port into a switch (spark-1:0 switch-1)."""
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        await cluster.plug(end, to)
    return DONE


@virtual.command()
@click.argument("end")
@dir_option
@command
async def unplug(end: str, directory: Path | None) -> int:
    """Take the cable out of a port (spark-1:0)."""
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        await cluster.unplug(end)
    return DONE


@virtual.command()
@click.argument("target")
@click.argument("gbps", type=float)
@click.option("--gpu-pct", type=float, default=None, help="How busy the node's GPU is.")
@click.option("--cpu-pct", type=float, default=None, help="How busy its CPUs are.")
@click.option("--memory-gib", type=float, default=None, help="Memory that a model holds there.")
@dir_option
@json_option
@command
async def load(
    target: str,
    gbps: float,
    gpu_pct: float | None,
    cpu_pct: float | None,
    memory_gib: float | None,
    directory: Path | None,
    json_path: str | None,
) -> int:
    """Let GBPS flow each way on a port's wire (spark-1:0) or on all wires of a node (spark-1); 0 ends it."""
    more = {"gpu_pct": gpu_pct, "cpu_pct": cpu_pct, "memory_gib": memory_gib}
    async with VirtualCluster.attach(places.choose(directory)) as cluster:
        asked = await cluster.load(target, gbps, **{k: v for k, v in more.items() if v is not None})
    if json_path:
        write_json(json_path, {"load_gbps": asked})
    if json_path != "-":
        rows = table("Where", "Gb/s each way")
        for where, rate in asked.items():
            rows.add_row(plain(where), f"{rate:g}")
        out.print(rows if asked else "No load.")
    return DONE
