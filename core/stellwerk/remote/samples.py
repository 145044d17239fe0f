"""A stream of samples that survives reconnects: what the agent kept meanwhile is fetched, nothing comes twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from stellwerk import wire
from stellwerk.model.errors import ConnectionFailed, StellwerkError
from stellwerk.model.guard import Hello
from stellwerk.model.sample import Sample
from stellwerk.remote.rpc import Inbox, RpcClient

_CALL_S = 30.0
_WAITING = 600  # samples: a minute at the highest rate, for a reader that is busy


@dataclass(frozen=True, slots=True)
class _History:
    samples: tuple[Sample, ...]


@dataclass(slots=True)
class _Reader:
    rate_hz: float
    last: Sample | None = None
    daemon: tuple[int, float] | None = None  # pid and start of the daemon that numbered `last`


class SampleStream:
    """All readers of one link's samples. The agent sends at the highest rate that any of them wants."""

    def __init__(self, next_rpc: Callable[[RpcClient | None], Awaitable[tuple[RpcClient, Hello] | None]]) -> None:
        self._next_rpc = next_rpc
        self._rates: dict[int, float] = {}

    async def read(self, rate_hz: float) -> AsyncIterator[Sample]:
        """Samples until the link is closed."""
        reader = _Reader(rate_hz)
        self._rates[id(reader)] = rate_hz
        rpc: RpcClient | None = None
        try:
            while (found := await self._next_rpc(rpc)) is not None:
                rpc, hello = found
                try:
                    async for sample in self._from_one(rpc, hello, reader):
                        yield sample
                except ConnectionFailed:
                    continue  # the link opens another connection, or is closed
        finally:
            del self._rates[id(reader)]
            await self._slow_down(rpc)

    async def _from_one(self, rpc: RpcClient, hello: Hello, reader: _Reader) -> AsyncIterator[Sample]:
        inbox = rpc.open_inbox("sample", _WAITING)
        try:
            await rpc.call("sample.subscribe", {"rate_hz": max(self._rates.values())}, deadline_s=_CALL_S)
            if reader.last is not None:
                for sample in await self._missed(rpc, hello, reader):
                    yield sample
            reader.daemon = (hello.pid, hello.started_at)
            async for sample in _live(inbox):
                if _is_new(sample, reader.last):
                    reader.last = sample
                    yield sample
        finally:
            rpc.close_inbox("sample", inbox)

    async def _missed(self, rpc: RpcClient, hello: Hello, reader: _Reader) -> list[Sample]:
        """What the agent kept while we were away. A new daemon numbers from the start again."""
        assert reader.last is not None
        same = reader.daemon == (hello.pid, hello.started_at)
        after = reader.last.sequence if same else 0
        history = await rpc.call("sample.history", {"after_sequence": after}, cls=_History, deadline_s=_CALL_S)
        missed = [sample for sample in history.samples if _is_new(sample, reader.last)]
        if missed:
            reader.last = missed[-1]
        return missed

    async def _slow_down(self, rpc: RpcClient | None) -> None:
        if rpc is None:
            return
        try:
            if self._rates:
                await rpc.call("sample.subscribe", {"rate_hz": max(self._rates.values())}, deadline_s=_CALL_S)
            else:
                await rpc.call("sample.unsubscribe", {}, deadline_s=_CALL_S)
        except StellwerkError:
            return  # the connection is gone, and with it the subscription


async def _live(inbox: Inbox) -> AsyncIterator[Sample]:
    while (item := await inbox.get()) is not None:
        try:
            sample = wire.from_wire(Sample, item)
        except wire.WireError as error:
            raise StellwerkError("the agent sent a sample of another form than agreed", why=str(error)) from None
        yield sample


def _is_new(sample: Sample, last: Sample | None) -> bool:
    return last is None or sample.boot_id != last.boot_id or sample.monotonic_ns > last.monotonic_ns
