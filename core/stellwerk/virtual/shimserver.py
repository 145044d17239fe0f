"""Answers the commands of one node over its Unix socket."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING

from stellwerk.virtual.call import BadMessage, Call, parse_request, receive, serve_call
from stellwerk.virtual.machine import Machine

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster


class ShimServer:
    """One per node; it stays while the node has no power, and answers nothing then."""

    def __init__(self, cluster: Cluster, machine: Machine) -> None:
        self.cluster = cluster
        self.machine = machine
        self._server: asyncio.Server | None = None
        self._calls: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen."""
        path = self.machine.dir / "shim.sock"
        self._server = await asyncio.start_unix_server(self._connected, str(path))

    async def stop(self) -> None:
        """End, with all commands that run."""
        if self._server is not None:
            self._server.close()
        for task in list(self._calls):
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the command was killed, or the cluster ends
        except BadMessage as error:
            self.machine.note(f"refused what came over the command socket: {error}")
        finally:
            self._calls.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from stellwerk.virtual.shims import COMMANDS

        first = await receive(reader)
        init = self.machine.init
        if not first or init is None:
            return
        request = parse_request(first)
        peer = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid = struct.unpack("3i", peer)[0]
        root = init.is_root(pid)
        call = Call(self.cluster, self.machine, request, pid=pid, root=root, reader=reader, writer=writer)
        command = COMMANDS.get(call.name)
        if command is None:
            call.err(f"{call.name}: not simulated")
            call.exit(127)
            return
        text = " ".join((call.name, *call.argv))
        await self.cluster.faults.before_command(self.machine, text)
        if self.machine.init is not init:
            return  # the power went just before
        await serve_call(call, command)
        await self.cluster.faults.after_command(self.machine, text)
