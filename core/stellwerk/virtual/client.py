"""The desktop's end of a virtual cluster: start it as a process of its own, change it, end it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk.virtual.places import CONTROL_SOCKET
from stellwerk.wire import error_from_wire

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 15.0
MAX_LINE = 4 * 1024 * 1024
# Real time that a simulated bandwidth test takes at most; what it prints is for the time that was asked for.
PERF_RUN_S = 1.0


@dataclass(frozen=True, slots=True)
class VirtualNode:
    """What is needed to log in to a simulated Spark, and where its directories lie."""

    name: str
    host: str
    port: int
    user: str
    password: str
    sudo_password: str
    host_key_fingerprint: str
    home: str = ""
    root: str = ""
    powered: bool = True


def _node(data: Mapping[str, Any]) -> VirtualNode:
    known = {field.name for field in fields(VirtualNode)}
    return VirtualNode(**{key: value for key, value in data.items() if key in known})


class VirtualCluster:
    """A running virtual cluster. Use `start` to make one, `attach` to speak to one that runs."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        directory: Path,
        topology: str,
        nodes: Sequence[VirtualNode],
    ) -> None:
        self.dir = directory
        self.topology = topology
        self.nodes: tuple[VirtualNode, ...] = tuple(nodes)
        self._reader = reader
        self._writer = writer
        self._lock = asyncio.Lock()
        self._number = 0
        self._process: asyncio.subprocess.Process | None = None

    async def wait_gone(self) -> None:
        """Until the process that `start` made has ended by itself."""
        assert self._process is not None, "only who started it hears of its end"
        await self._process.wait()

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        nodes: int = 2,
        topology: str = "pair",
        base_dir: Path | None = None,
        faults: Sequence[Mapping[str, Any]] = (),
    ) -> AsyncIterator[VirtualCluster]:
        """Start `nodes` simulated Sparks; they end when the block is left or this process dies.

        `faults` are set before the block is entered: mappings with "kind", "node" and the fault's parameters.
        Raises `BadInput` for a shape that cannot be, `StellwerkError` when the process does not come up.
        """
        argv = [sys.executable, "-m", "stellwerk.virtual", "--nodes", str(nodes), "--topology", topology]
        argv += ["--perf-run-s", str(PERF_RUN_S)]
        if base_dir is not None:
            argv += ["--dir", str(base_dir)]
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MAX_LINE, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                hello = await _hello(process.stdout)
            found = [_node(item) for item in hello["nodes"]]
            cluster = cls(process.stdout, process.stdin, Path(hello["dir"]), hello["topology"], found)
            cluster._process = process
            for fault in faults:
                await cluster.set_fault(**fault)
            yield cluster
        finally:
            await _end(process)

    @classmethod
    @contextlib.asynccontextmanager
    async def attach(cls, directory: Path) -> AsyncIterator[VirtualCluster]:
        """Speak to a cluster that runs, by its directory. Raises `BadInput` when none runs there."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(directory / CONTROL_SOCKET), limit=MAX_LINE)
        except OSError as error:
            raise BadInput(
                say("no virtual cluster runs in {directory}", directory=directory),
                why=error.strerror or str(error),
                remedy="start one with `stellwerk virtual up`",
            ) from None
        try:
            cluster = cls(reader, writer, directory, "", ())
            await cluster.refresh()
            yield cluster
        finally:
            writer.close()

    async def request(self, op: str, **parameters: Any) -> Any:
        """One operation of the control protocol. Raises what the cluster answers as `BadInput`."""
        async with self._lock:
            self._number += 1
            self._writer.write(json.dumps({"id": self._number, "op": op, **parameters}).encode() + b"\n")
            await self._writer.drain()
            answer = await self._answer(self._number)
        if "error" in answer:
            raise error_from_wire({"data": {**answer["error"], "code": BadInput.code}})
        return answer["ok"]

    async def _answer(self, number: int) -> dict[str, Any]:
        """The answer to that request. Earlier ones, whose caller did not wait, are passed over."""
        while line := await self._reader.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise StellwerkError("the virtual cluster has ended")

    async def refresh(self) -> tuple[VirtualNode, ...]:
        """Read the nodes anew: after a reinstallation the fingerprint is another."""
        self.nodes = tuple(_node(item) for item in await self.request("nodes"))
        return self.nodes

    def node(self, name: str) -> VirtualNode:
        """The node of that name."""
        return next(node for node in self.nodes if node.name == name)

    async def set_fault(self, kind: str, *, node: str | None = None, **parameters: Any) -> Any:
        """Break something; see `stellwerk.virtual.faults` for the kinds and their parameters."""
        answer = await self.request("fault.set", kind=kind, node=node, **parameters)
        await self.refresh()
        return answer

    async def clear_fault(self, kind: str, *, node: str | None = None, **parameters: Any) -> Any:
        """Mend it again."""
        answer = await self.request("fault.clear", kind=kind, node=node, **parameters)
        await self.refresh()
        return answer

    async def faults(self) -> list[dict[str, Any]]:
        """What is broken now."""
        found: list[dict[str, Any]] = await self.request("fault.list")
        return found

    async def cables(self) -> list[dict[str, Any]]:
        """All wires: name, kind, ends, speed_mbps."""
        found: list[dict[str, Any]] = await self.request("cables")
        return found

    async def plug(self, end: str, to: str) -> None:
        """Plug a cable between two ports (`spark-1:0`), or a port into a switch (its name)."""
        await self.request("plug", end=end, to=to)

    async def unplug(self, end: str) -> None:
        """Take the cable out of a port."""
        await self.request("unplug", end=end)

    async def load(self, target: str, gbps: float, **more: float) -> Any:
        """Let traffic flow on a node (`spark-1`) or a port's cable (`spark-1:0`), in Gb/s each way; 0 ends it."""
        return await self.request("load", target=target, gbps=gbps, **more)

    async def state(self) -> dict[str, Any]:
        """Everything: nodes, interfaces, cables, load, faults."""
        found: dict[str, Any] = await self.request("state")
        return found

    async def log(self, node: str) -> list[dict[str, Any]]:
        """The commands that a node ran through its shims, and what happened to it."""
        found: list[dict[str, Any]] = await self.request("log", node=node)
        return found


async def _hello(stream: asyncio.StreamReader) -> dict[str, Any]:
    line = await stream.readline()
    if not line:
        raise StellwerkError("the virtual cluster did not start", remedy="see the message above")
    hello: dict[str, Any] = json.loads(line)
    if not hello["ready"]:
        raise error_from_wire({"data": {**hello["error"], "code": BadInput.code}})
    return hello


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its stdin and wait; a cluster that does not end is killed (its nodes then end by themselves)."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
