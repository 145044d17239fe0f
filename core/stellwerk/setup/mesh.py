"""Machines may reach each other by SSH: needed by mpirun and the NCCL tests, and taken out again without a trace.

One key per machine is made on it and never leaves it. Only public keys travel, host keys are pinned, and what is
written stands in a block of its own: the agents' `mesh.*` calls do that. Here is decided by which address each machine
reaches each other one, and every pair is tried.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stellwerk.fabric.ports import find_ports
from stellwerk.model.errors import BadInput, ConnectionFailed, StellwerkError
from stellwerk.model.facts import NodeFacts
from stellwerk.model.guard import PingResult
from stellwerk.model.text import say
from stellwerk.setup.session import ClusterSession

PINGS_AT_ONCE = 4  # per machine
PING_TIMEOUT_S = 1.0
KEY_DEADLINE_S = 60.0
VERIFY_DEADLINE_S = 120.0
FABRIC, MANAGEMENT = "fabric", "management"


@dataclass(frozen=True, slots=True)
class Way:
    """By which address `source` reaches `target`, and over which network."""

    source: str
    target: str
    address: str
    over: str  # fabric | management


@dataclass(frozen=True, slots=True)
class Tried:
    """One pair that was tried. `error` "" means: it works."""

    source: str
    target: str
    address: str
    over: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class MeshReport:
    """All pairs, and what a person should know."""

    tried: tuple[Tried, ...]
    changed: dict[str, tuple[str, ...]]  # files per machine
    notes: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        return all(not pair.error for pair in self.tried)


def candidates(source: NodeFacts, target: NodeFacts) -> list[tuple[str, str]]:
    """(address, network) by which `source` might reach `target`, best first: the shared wire, fabric, management."""
    own = [ipaddress.ip_interface(a).network for a in _fabric_addresses(source)]
    fabric = [ipaddress.ip_interface(a).ip for a in _fabric_addresses(target)]
    near = [ip for ip in fabric if any(ip in network for network in own)]
    far = [ip for ip in fabric if ip not in near]
    found = [(str(ip), FABRIC) for ip in (*near, *far)]
    return found + [(address, MANAGEMENT) for address in _management_addresses(target)]


def _fabric_addresses(facts: NodeFacts) -> list[str]:
    halves = [half for port in find_ports(facts).ports for half in port.halves]
    return [a for half in halves for a in half.netdev.addresses if _usable(a)]


def _management_addresses(facts: NodeFacts) -> list[str]:
    """Where the session came in, then the interfaces that lead out of the house."""
    fabric = {name for port in find_ports(facts).ports for name in port.netdevs}
    leading = [r.device for r in facts.routes if r.destination == "default" and r.device not in fabric]
    found = [str(ipaddress.ip_interface(a).ip) for d in facts.netdevs if d.name in leading for a in d.addresses]
    entered = facts.session.server_address
    return list(dict.fromkeys(a for a in ([entered] if entered else []) + found if _usable(a)))


def _usable(address: str) -> bool:
    ip = ipaddress.ip_interface(address).ip
    return ip.version == 4 and not ip.is_loopback and not ip.is_link_local


async def mesh_on(session: ClusterSession, *, try_pairs: bool = True) -> MeshReport:
    """Let all machines of the cluster reach each other, and try every pair.

    Raises `BadInput` for fewer than two machines, `ConnectionFailed` when one is away, and the error of a machine
    where it cannot be set up: then it is taken out of all of them again.
    """
    names = _all_names(session)
    keys = await _ask(session, names, "mesh.key", {}, KEY_DEADLINE_S)
    facts = await session.facts(names)
    ways = await _find_ways(session, names, facts)
    try:
        answers = await asyncio.gather(*(_install(session, name, names, ways, keys, facts) for name in names))
    except StellwerkError:
        await session.ask_all("mesh.remove", {}, None, KEY_DEADLINE_S, names)
        raise
    notes = [f"{n}: {note}" for n, answer in zip(names, answers, strict=True) for note in answer["notes"]]
    notes += [f"{n} names no host key of its own, so no other node trusts it" for n in names if not _pins(keys[n])]
    changed = {n: tuple(answer["changed"]) for n, answer in zip(names, answers, strict=True)}
    session.save(replace(session.cluster, mesh=True))
    tried = await _try_all(session, names, ways) if try_pairs else ()
    return MeshReport(tried, changed, tuple(notes))


async def mesh_verify(session: ClusterSession) -> MeshReport:
    """Try every pair again. Raises `BadInput` when it was never set up."""
    names = _all_names(session)
    if not session.cluster.mesh:
        raise BadInput("the nodes do not know each other", remedy="Let the nodes reach each other first")
    ways = await _find_ways(session, names, await session.facts(names))
    return MeshReport(await _try_all(session, names, ways), {})


async def mesh_off(session: ClusterSession) -> dict[str, tuple[str, ...]]:
    """Take it out of all machines; what was removed, by machine. Raises when one is away: its files would stay."""
    names = _all_names(session, at_least=1)
    removed = await _ask(session, names, "mesh.remove", {}, KEY_DEADLINE_S)
    session.save(replace(session.cluster, mesh=False))
    return {name: tuple(answer["removed"]) for name, answer in removed.items()}


async def mesh_refresh(session: ClusterSession) -> MeshReport | None:
    """After a machine came or left: the others learn of it. None when there is no mesh, or nobody left to have one."""
    if not session.cluster.mesh:
        return None
    if len(session.cluster.nodes) < 2:
        if session.cluster.nodes:
            await mesh_off(session)
        return None
    return await mesh_on(session, try_pairs=False)


def _all_names(session: ClusterSession, at_least: int = 2) -> list[str]:
    names = [node.name for node in session.cluster.nodes]
    if len(names) < at_least:
        raise BadInput(
            "one node alone has nobody to reach" if names else "the cluster has no node",
            remedy="Pair the others first",
        )
    away = [name for name in names if name not in session.ready]
    if away:
        raise ConnectionFailed(
            "the node is not connected" if len(away) == 1 else say("not connected: {away}", away=", ".join(away)),
            node=away[0] if len(away) == 1 else None,
            why="All nodes learn each other's keys, or none does",
            remedy="Switch it on, see to its network, then try again",
        )
    return names


async def _ask(
    session: ClusterSession, names: Sequence[str], method: str, params: Mapping[str, Any], deadline_s: float
) -> dict[str, Any]:
    answers = await session.ask_all(method, params, None, deadline_s, names)
    for name, error in answers.errors.items():
        error.node = error.node or name
        raise error
    return answers.good


async def _find_ways(
    session: ClusterSession, names: Sequence[str], facts: Mapping[str, NodeFacts]
) -> dict[tuple[str, str], Way]:
    """The first address of each pair that answers a ping; a pair without one is left out."""
    gates = {name: asyncio.Semaphore(PINGS_AT_ONCE) for name in names}

    async def one(source: str, target: str) -> Way | None:
        for address, over in candidates(facts[source], facts[target]):
            async with gates[source]:
                if await _answers(session, source, address):
                    return Way(source, target, address, over)
        return None

    pairs = [(s, t) for s in names for t in names if s != t]
    found = await asyncio.gather(*(one(s, t) for s, t in pairs))
    return {(way.source, way.target): way for way in found if way is not None}


async def _answers(session: ClusterSession, source: str, address: str) -> bool:
    params = {
        "destination": address,
        "netdev": None,
        "payload_bytes": 56,
        "count": 1,
        "dont_fragment": False,
        "timeout_s": PING_TIMEOUT_S,
    }
    answer: PingResult = await session.links[source].call("verify.ping", params, PingResult, deadline_s=20.0)
    return answer.received > 0


def _pins(key: Mapping[str, Any]) -> list[str]:
    return [str(line) for line in key["host_keys"]]


async def _install(
    session: ClusterSession,
    name: str,
    names: Sequence[str],
    ways: Mapping[tuple[str, str], Way],
    keys: Mapping[str, Mapping[str, Any]],
    facts: Mapping[str, NodeFacts],
) -> dict[str, Any]:
    """Tell one machine of all others. One that it cannot reach may still come in, so its key is told all the same."""
    peers = []
    for other in names:
        if other == name or not _pins(keys[other]):
            continue
        way = ways.get((name, other))
        reachable = [address for address, _ in candidates(facts[name], facts[other])]
        peers.append(
            {
                "alias": other,
                "address": way.address if way is not None else (reachable[-1] if reachable else other),
                "port": session.links[other].target.port,
                "user": facts[other].user,
                "public_key": keys[other]["public_key"],
                "host_keys": _pins(keys[other]),
            }
        )
    answer: dict[str, Any] = await session.links[name].call("mesh.install", {"peers": peers}, deadline_s=KEY_DEADLINE_S)
    return answer


async def _try_all(
    session: ClusterSession, names: Sequence[str], ways: Mapping[tuple[str, str], Way]
) -> tuple[Tried, ...]:
    async def one(source: str) -> list[Tried]:
        others = [n for n in names if n != source]
        try:
            answer = await session.links[source].call("mesh.verify", {"aliases": others}, deadline_s=VERIFY_DEADLINE_S)
            results: dict[str, str | None] = answer["results"]
        except StellwerkError as error:
            results = dict.fromkeys(others, error.what)
        return [_tried(source, other, ways.get((source, other)), results.get(other)) for other in others]

    rows = await asyncio.gather(*(one(name) for name in names))
    return tuple(pair for row in rows for pair in row)


def _tried(source: str, target: str, way: Way | None, error: str | None) -> Tried:
    if way is None:
        return Tried(source, target, "", "", error or "")
    return Tried(source, target, way.address, way.over, error or "")
