"""The least that a proxy on an event loop of Python can cost: bytes to and fro, one upstream connection per client.

    python tests/bench/bare_proxy.py PORT ENGINE_HOST:PORT

It reads no HTTP, decides nothing, counts nothing. `gateway.py --bare` runs it beside the others: what it does not reach
on a machine, nothing with a policy can reach there.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import cast


class Upstream(asyncio.Protocol):
    """The engine's side."""

    def __init__(self, client: asyncio.Transport) -> None:
        self.client = client

    def data_received(self, data: bytes) -> None:
        self.client.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.client.close()


class Client(asyncio.Protocol):
    """The client's side. What comes before the engine's connection stands waits."""

    def __init__(self, host: str, port: int) -> None:
        self.engine = (host, port)
        self.upstream: asyncio.Transport | None = None
        self.waiting: list[bytes] = []
        self.opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.client = cast("asyncio.Transport", transport)
        self.opening = asyncio.get_running_loop().create_task(self.open())

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        upstream, _ = await loop.create_connection(lambda: Upstream(self.client), *self.engine)
        self.upstream = upstream
        for data in self.waiting:
            upstream.write(data)

    def data_received(self, data: bytes) -> None:
        if self.upstream is None:
            self.waiting.append(data)
        else:
            self.upstream.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.upstream is not None:
            self.upstream.close()


async def main(port: int, engine: str) -> None:
    host, _, engine_port = engine.partition(":")
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Client(host, int(engine_port)), "127.0.0.1", port, backlog=2048)
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(main(int(sys.argv[1]), sys.argv[2]))
