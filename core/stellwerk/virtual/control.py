"""The control interface of a virtual cluster: JSON lines on stdin/stdout of its process and on a Unix socket.

    -> {"id", "op", …parameters}      <- {"id", "ok": result} or {"id", "error": {"what", "why", "remedy"}}

Operations: nodes, cables, state, log, plug, unplug, load, fault.set, fault.clear, fault.list, stop.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk.virtual.cables import End, parse_end
from stellwerk.virtual.cluster import Cluster
from stellwerk.virtual.places import CONTROL_SOCKET
from stellwerk.wire import error_to_wire

Operation = Callable[[Mapping[str, Any]], Awaitable[Any]]
MAX_LINE = 4 * 1024 * 1024


class Control:
    """Answers requests about one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.stopped = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.StreamWriter] = set()
        self._operations: dict[str, Operation] = {
            "nodes": self._nodes,
            "cables": self._cables,
            "log": self._log,
            "plug": self._plug,
            "unplug": self._unplug,
            "state": self._state,
            "load": self._load,
            "fault.set": self._set_fault,
            "fault.clear": self._clear_fault,
            "fault.list": self._list_faults,
            "stop": self._stop,
        }

    async def listen(self) -> None:
        """Open the Unix socket in the cluster's directory, for the owner alone (the directory is 0700)."""
        path = self.cluster.dir / CONTROL_SOCKET
        self._server = await asyncio.start_unix_server(self._connected, str(path), limit=MAX_LINE)
        path.chmod(0o600)

    async def close(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._clients):
            writer.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            while line := await reader.readline():
                writer.write(await self.answer(line))
                await writer.drain()
        except ConnectionError:
            pass  # the client has gone
        finally:
            self._clients.discard(writer)
            writer.close()

    async def answer(self, line: bytes) -> bytes:
        """One request to one answer, both with their newline."""
        number: Any = None
        try:
            request = json.loads(line)
            number = request.get("id")
            operation = self._operations.get(str(request.get("op")))
            if operation is None:
                raise BadInput(say("there is no operation {name}", name=repr(request.get("op"))))
            body: dict[str, Any] = {"id": number, "ok": await operation(request)}
        except StellwerkError as error:
            body = {"id": number, "error": error_to_wire(0, error)["error"]["data"]}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            body = {"id": number, "error": {"what": f"bad request: {error}", "why": "", "remedy": ""}}
        return json.dumps(body).encode() + b"\n"

    async def _nodes(self, request: Mapping[str, Any]) -> Any:
        return self.cluster.nodes()

    async def _cables(self, request: Mapping[str, Any]) -> Any:
        return self.cluster.cable_list()

    async def _log(self, request: Mapping[str, Any]) -> Any:
        machine = self.cluster.machine(str(request["node"]))
        return [{"at": e.at, "what": e.what, "argv": list(e.argv), "root": e.root} for e in machine.log]

    async def _plug(self, request: Mapping[str, Any]) -> Any:
        end, to = self._end(request["end"]), str(request["to"])
        try:
            if ":" in to:
                self.cluster.cables.plug(end, self._end(to))
            else:
                self.cluster.cables.join(to, end)
        except ValueError as error:
            raise BadInput(str(error), remedy="see `stellwerk virtual cables`") from None
        self.cluster.network_changed()
        return self.cluster.cable_list()

    def _end(self, text: Any) -> End:
        """A port of a node that is there. Raises `BadInput`."""
        try:
            end = parse_end(str(text))
        except ValueError as error:
            raise BadInput(str(error)) from None
        return End(self.cluster.machine(end.node).name, end.port)

    async def _unplug(self, request: Mapping[str, Any]) -> Any:
        try:
            self.cluster.cables.unplug(self._end(request["end"]))
        except ValueError as error:
            raise BadInput(str(error), remedy="see `stellwerk virtual cables`") from None
        self.cluster.network_changed()
        return self.cluster.cable_list()

    async def _state(self, request: Mapping[str, Any]) -> Any:
        return self.cluster.state()

    async def _load(self, request: Mapping[str, Any]) -> Any:
        target = str(request["target"])
        machine = self.cluster.machine(target.partition(":")[0])
        answer = self.cluster.load.set(target, float(request["gbps"]))
        for name in ("gpu_pct", "cpu_pct"):
            if request.get(name) is not None:
                setattr(machine.metrics.activity, name, min(100.0, max(0.0, float(request[name]))))
        if request.get("memory_gib") is not None:
            machine.metrics.activity.memory_kb = int(float(request["memory_gib"]) * 1024**2)
        return answer

    async def _set_fault(self, request: Mapping[str, Any]) -> Any:
        parameters = {k: v for k, v in request.items() if k not in ("id", "op", "kind", "node")}
        return await self.cluster.faults.set(str(request["kind"]), request.get("node"), parameters)

    async def _clear_fault(self, request: Mapping[str, Any]) -> Any:
        return await self.cluster.faults.clear(str(request["kind"]), request.get("node"))

    async def _list_faults(self, request: Mapping[str, Any]) -> Any:
        return self.cluster.faults.listed()

    async def _stop(self, request: Mapping[str, Any]) -> Any:
        self.stopped.set()
        return {}
