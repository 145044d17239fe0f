"""A gateway with simulated engines on loopback, and a client that shows every byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from stellwerk.serving.engines.simulated.engine import SimulatedEngine
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.gateway.app import Gateway
from stellwerk.serving.gateway.settings import GatewaySettings
from stellwerk.serving.policy.load import load_policy

FAST = SimulatedSettings(model="tiny", ttft_s=0.001, rate=2000.0, answer_tokens=12)


@dataclass
class Answer:
    """One HTTP answer, taken apart. `chunks`: payloads as they were framed; `complete`: it ended properly."""

    status: int
    headers: dict[str, str]
    body: bytes
    complete: bool = True
    interim: list[int] = field(default_factory=list)

    def json(self) -> object:
        return json.loads(self.body)

    @property
    def events(self) -> list[str]:
        return [block.removeprefix("data: ") for block in self.body.decode().split("\n\n") if block]


class Wire:
    """One client connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, port: int) -> Wire:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def close(self) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except (ConnectionError, BrokenPipeError):
            return  # the other side was faster

    async def answer(self, *, head_only: bool = False) -> Answer:
        """Read one answer to its end."""
        interim: list[int] = []
        while True:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status = int(head.split(" ", 2)[1])
            if status >= 200:
                break
            interim.append(status)
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            if name
        }
        if head_only or status == 204:
            return Answer(status, headers, b"", True, interim)
        if headers.get("transfer-encoding") == "chunked":
            body, complete = await self._chunked()
        elif "content-length" in headers:
            length = int(headers["content-length"])
            try:
                body, complete = await self.reader.readexactly(length), True
            except asyncio.IncompleteReadError as error:
                body, complete = error.partial, False
        else:
            body, complete = await self.reader.read(), True
        return Answer(status, headers, body, complete, interim)

    async def _chunked(self) -> tuple[bytes, bool]:
        body = b""
        try:
            while True:
                size = int(await self.reader.readuntil(b"\r\n"), 16)
                data = await self.reader.readexactly(size + 2)
                assert data.endswith(b"\r\n")
                if not size:
                    return body, True
                body += data[:-2]
        except (asyncio.IncompleteReadError, ConnectionError):
            return body, False


def request(path: str, body: object = None, method: str = "POST", **headers: str) -> bytes:
    """A request as bytes. Header names: underscores become dashes."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"host": "localhost", "content-type": "application/json", "content-length": str(len(data))}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + data


def chat(text: str = "hello", **more: object) -> dict[str, object]:
    return {"model": "auto", "messages": [{"role": "user", "content": text}], **more}


class Yard:
    """Engines and a gateway, all stopped at the end."""

    def __init__(self, pure: bool) -> None:
        self.pure = pure
        self.engines: list[SimulatedEngine] = []
        self.gateways: list[Gateway] = []
        self.port = 0

    async def engine(self, settings: SimulatedSettings = FAST) -> tuple[SimulatedEngine, int]:
        engine = SimulatedEngine(settings)
        self.engines.append(engine)
        return engine, await engine.start()

    async def gateway(self, policy: str, **settings: object) -> Gateway:
        values: dict[str, object] = {
            "port": 0, "log_path": None, "tick_s": 0.02, "drain_s": 2.0, "pure_python": self.pure, **settings,
        }  # fmt: skip
        path = values.pop("policy_path", None)
        gateway = Gateway(load_policy(policy), GatewaySettings(**values), policy_path=path)  # type: ignore[arg-type]
        self.gateways.append(gateway)
        self.port = await gateway.start()
        return gateway

    async def ask(self, path: str = "/v1/chat/completions", body: object = None, **more: str) -> Answer:
        """One request over a connection of its own."""
        wire = await Wire.open(self.port)
        try:
            await wire.send(request(path, chat() if body is None else body, **more))
            return await wire.answer(head_only=more.get("method") == "HEAD")
        finally:
            await wire.close()

    async def get(self, path: str, **more: str) -> Answer:
        return await self.ask(path, b"", method="GET", **more)

    async def stop(self) -> None:
        for gateway in self.gateways:
            await gateway.stop(0)
        for engine in self.engines:
            await engine.stop()


async def until(condition: Callable[[], bool], timeout_s: float = 5.0) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.005)


def policy(*ports: int, extra: str = "", pool: str = "", gateway: str = "", model: str = "tiny") -> str:
    """One pool `small` with a replica per port, reached through the step `only`."""
    replicas = "\n".join(f'      - {{url: "http://127.0.0.1:{port}/v1"}}' for port in ports)
    return f"""version: 1
models: {{auto: only}}
pools:
  small:
    model: {model}
{pool}
    health: {{every: 50ms, timeout: 500ms}}
    replicas:
{replicas}
{extra}
steps:
  only: {{try: [small]}}
{gateway}
"""


AsyncYard = AsyncIterator[Yard]
