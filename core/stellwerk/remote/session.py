"""One connection to one node with its agent attached: from the login to the last byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any

import asyncssh

from stellwerk import wire
from stellwerk.model.errors import AgentRefused, ConnectionFailed
from stellwerk.model.guard import Hello
from stellwerk.model.text import say
from stellwerk.remote.artefact import Artefact
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.failures import cleaned, lost
from stellwerk.remote.on_node import SHARE
from stellwerk.remote.rpc import RpcClient

_MAX_NOISE_BYTES = 64 * 1024  # what a login shell may print before the agent's first line
_STDERR_TAIL_BYTES = 4096


class _ProcessPipe:
    """The agent's stdin and stdout as the RPC client wants them."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process = process

    async def read(self, size: int) -> bytes:
        try:
            return await self._process.stdout.read(size)
        except asyncssh.Error as error:
            raise OSError(str(error)) from None

    def write(self, data: bytes) -> None:
        self._process.stdin.write(data)

    async def drain(self) -> None:
        try:
            await self._process.stdin.drain()
        except asyncssh.Error as error:
            raise OSError(str(error)) from None


@dataclass(slots=True)
class Session:
    """An attached agent. Whoever holds it must `close` it."""

    connections: list[asyncssh.SSHClientConnection]  # jump hosts first, the node last
    process: asyncssh.SSHClientProcess[bytes]
    rpc: RpcClient
    hello: Hello
    reading: asyncio.Task[ConnectionFailed]

    @property
    def connection(self) -> asyncssh.SSHClientConnection:
        """The SSH connection to the node itself."""
        return self.connections[-1]

    async def close(self, deadlines: Deadlines) -> None:
        """End everything; no task is left afterwards."""
        self.reading.cancel()
        await asyncio.gather(self.reading, return_exceptions=True)
        with contextlib.suppress(OSError):  # the connection may be gone already
            self.process.stdin.write_eof()
        self.process.close()
        await close_all(self.connections, deadlines)


async def close_all(connections: list[asyncssh.SSHClientConnection], deadlines: Deadlines) -> None:
    """Close the node's connection first, then its jump hosts; one that does not end in time is cut."""
    for connection in reversed(connections):
        connection.close()
        try:
            async with asyncio.timeout(deadlines.close_s):
                await connection.wait_closed()
        except TimeoutError:
            connection.abort()
            await connection.wait_closed()


async def attach(
    connections: list[asyncssh.SSHClientConnection],
    agent: Artefact,
    node: str,
    desktop: str,
    deadlines: Deadlines,
) -> Session:
    """Start `attach` on the node, say hello. On failure the connections are left to the caller.

    Raises `AgentRefused` (newer agent, it cannot start), `ConnectionFailed`.
    """
    command = f"exec python3 -I ~/{SHARE}/{agent.file_name} attach"
    process: asyncssh.SSHClientProcess[bytes] | None = None
    reading: asyncio.Task[ConnectionFailed] | None = None
    try:
        async with asyncio.timeout(deadlines.attach_s):
            process = await connections[-1].create_process(command, encoding=None)
            first, rest = await _first_line(process)
            if first is None:
                raise await _did_not_start(process, rest, node)
            _check_first_line(first, agent, node)
            rpc = RpcClient(_ProcessPipe(process), node)
            reading = asyncio.create_task(_read(rpc, process, rest), name=f"agent of {node}")
            hello = await rpc.call(
                "hello", {"protocol": wire.PROTOCOL, "desktop": desktop}, cls=Hello, deadline_s=deadlines.attach_s
            )
        _check_hello(hello, agent, node)
    except BaseException as error:
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        if process is not None:
            process.close()
        if isinstance(error, TimeoutError):
            raise AgentRefused(
                say("the agent did not start within {attach_s} s", attach_s=f"{deadlines.attach_s:g}"),
                node=node,
                why="The machine is overloaded, or its disk is very slow",
                remedy="Look at its load (uptime), then try again",
            ) from None
        if isinstance(error, (asyncssh.Error, OSError)):
            raise lost(node, cleaned(str(error))) from None
        raise
    return Session(connections, process, rpc, hello, reading)


async def _read(rpc: RpcClient, process: asyncssh.SSHClientProcess[bytes], rest: bytes) -> ConnectionFailed:
    """Both outputs of the agent: a full stderr would stop it, so it is read and forgotten."""
    draining = asyncio.create_task(_drain(process))
    try:
        return await rpc.run(rest)
    finally:
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)


async def _drain(process: asyncssh.SSHClientProcess[bytes]) -> None:
    while await process.stderr.read(_STDERR_TAIL_BYTES):
        pass


async def _first_line(process: asyncssh.SSHClientProcess[bytes]) -> tuple[dict[str, Any] | None, bytes]:
    """The agent's first line and what came after it; `None` and everything read when it never came."""
    read = b""
    while len(read) < _MAX_NOISE_BYTES:
        block = await process.stdout.read(_MAX_NOISE_BYTES)
        if not block:
            break
        read += block
        lines = read.split(b"\n")
        for position, line in enumerate(lines[:-1]):
            if line.startswith(b'{"stellwerk"'):
                try:
                    first = json.loads(line)
                except ValueError:
                    continue
                return first, b"\n".join(lines[position + 1 :])
    return None, read


async def _did_not_start(process: asyncssh.SSHClientProcess[bytes], out: bytes, node: str) -> AgentRefused:
    err = await process.stderr.read(_STDERR_TAIL_BYTES)
    said = cleaned((err or out).decode("utf-8", "replace")[-600:])
    return AgentRefused(
        "the agent did not start",
        node=node,
        why=say("The machine said: {said}", said=said) if said else "The machine gave no reason",
        remedy="Pair it again: the agent is then checked and sent anew",
    )


def _check_first_line(first: dict[str, Any], agent: Artefact, node: str) -> None:
    if first.get("stellwerk") == "attached":
        return
    if first.get("why") == "newer":
        raise newer_agent(node, str(first.get("version", "")), agent.version)
    raise AgentRefused(
        "the agent refused to start",
        node=node,
        why=cleaned(str(first.get("message") or first.get("why") or "no reason was given")),
        remedy="Mend what it names on the machine, then try again",
    )


def newer_agent(node: str, theirs: str, ours: str) -> AgentRefused:
    """A newer desktop has been here; going back would take its work away."""
    return AgentRefused(
        say(
            "a newer agent runs there ({theirs}; this is {ours})",
            theirs=cleaned(theirs) or say("unknown version"),
            ours=ours,
        ),
        node=node,
        why="Another computer with a newer Stellwerk manages this machine",
        remedy="Update Stellwerk on this computer, or un-pair the machine there first",
    )


def _check_hello(hello: Hello, agent: Artefact, node: str) -> None:
    if hello.protocol > wire.PROTOCOL:
        raise newer_agent(node, hello.agent_version, agent.version)
    if hello.agent_hash != agent.sha256:
        raise AgentRefused(
            "another agent answered than the one that was started",
            node=node,
            why=say(
                "It is {agent_version}, {agent_hash}; expected {sha256}",
                agent_version=cleaned(hello.agent_version),
                agent_hash=cleaned(hello.agent_hash[:16]),
                sha256=agent.sha256[:16],
            ),
            remedy="Try again in a moment; if it stays so, reboot the machine",
        )
