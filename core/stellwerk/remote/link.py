"""The link to one node: pairs, connects, keeps itself connected, carries calls. One owner task, ended by `close`."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import asyncssh

from stellwerk.model.errors import (
    AgentRefused,
    Cancelled,
    ConnectionFailed,
    DeadlineExceeded,
    LoginFailed,
    StellwerkError,
)
from stellwerk.model.guard import Hello
from stellwerk.model.sample import Sample
from stellwerk.model.text import say, whole
from stellwerk.remote.artefact import Artefact
from stellwerk.remote.failures import cleaned, lost
from stellwerk.remote.install import install_agent
from stellwerk.remote.node_python import NodePython
from stellwerk.remote.on_node import SHARE
from stellwerk.remote.opening import Desktop, LinkState, Opening
from stellwerk.remote.prompts import Prompts
from stellwerk.remote.rpc import RpcClient
from stellwerk.remote.samples import SampleStream
from stellwerk.remote.session import Session
from stellwerk.remote.target import Target
from stellwerk.remote.trust import HostKeyAlarm, HostKeyAlarmError

log = logging.getLogger("stellwerk.remote.link")

T = TypeVar("T")
StateCallback = Callable[[LinkState, str], None]

# A connection that was lost sooner than this after it stood gets no fresh start: an agent that dies again and again, or
# two desktops with different builds that replace each other's, must not do so several times a second.
_STABLE_S = 20.0
# A machine that boots answers SSH before it lets users in; a link that worked before is not given up for that.
_REFUSALS_WHILE_RECONNECTING = 6


class NodeLink:
    """One node. `state` and `reason` say where it is; `error` is the last failure, for those who show it."""

    def __init__(self, name: str, target: Target, desktop: Desktop) -> None:
        self.name = name
        self.target = target
        self.desktop = desktop
        self.state = LinkState.FOUND
        self.reason = ""
        self.error: StellwerkError | None = None
        self.hello: Hello | None = None
        self._callbacks: list[StateCallback] = []
        self._changed = asyncio.Event()
        self._session: Session | None = None
        self._ending: Session | None = None  # lost, and not yet closed
        self._opening: asyncio.Task[Session] | None = None
        self._owner: asyncio.Task[None] | None = None
        self._held_as: str | None = None  # under this name we keep other desktops off the node
        self._samples = SampleStream(self._next_rpc)

    def on_state(self, callback: StateCallback) -> Callable[[], None]:
        """Be told of every change of state or reason, in this event loop; the returned function ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    async def pair(self, prompts: Prompts) -> None:
        """Trust, log in, install key and agent, attach. May be called again after a failure.

        Raises `HostKeyUnknown`, `HostKeyChanged`, `LoginFailed`, `ConnectionFailed`, `AgentRefused`, `Cancelled`; the
        state is NEEDS_ATTENTION then.
        """
        await self._open(prompts)

    async def connect(self) -> None:
        """Connect to a node that was paired, with the cluster's key alone; nobody is asked. Raises like `pair`."""
        await self._open(None)

    @property
    def alarm(self) -> HostKeyAlarm | None:
        """The changed host key that stopped the link, if that is what did."""
        return self.error.alarm if isinstance(self.error, HostKeyAlarmError) else None

    def replace_trust(self, alarm: HostKeyAlarm) -> None:
        """Trust the key of `alarm` from now on: only after a person compared both fingerprints. Then pair again."""
        self.desktop.trust.replace_trust(alarm)
        self._set(LinkState.FOUND, "the new host key is trusted")

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[T] | None = None,
        *,
        deadline_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """Call the agent; see `RpcClient.call`. Raises `ConnectionFailed` at once while there is no connection."""
        rpc = self._rpc()
        limit_s = self.desktop.deadlines.call_s if deadline_s is None else deadline_s
        if cls is None:
            return await rpc.call(method, params, deadline_s=limit_s, on_progress=on_progress)
        return await rpc.call(method, params, cls=cls, deadline_s=limit_s, on_progress=on_progress)

    async def send_artefact(self, artefact: Artefact, on_progress: Callable[[int], None] = lambda percent: None) -> str:
        """Have a file of ours on the node under its hash; returns its path there, relative to the home directory.

        Nothing is sent when it is there. Raises `AgentRefused`, and `ConnectionFailed` also when there is none.
        """
        session, deadlines = self._session, self.desktop.deadlines
        if session is None:
            raise self._not_connected()
        python = NodePython(session.connection, self.name, deadlines.command_s)
        try:
            await install_agent(session.connection, python, artefact, self.name, deadlines, on_progress)
        except (asyncssh.Error, OSError) as error:
            raise lost(self.name, cleaned(str(error))) from None
        return f"{SHARE}/{artefact.file_name}"

    async def hold(self, desktop: str, *, force: bool = False) -> None:
        """Keep other desktops off the node, over reconnects too, until `let_go` or `close`.

        Raises `Busy` when another one holds it; `force` takes it over.
        """
        await self.call("lock.take", {"desktop": desktop, "force": force})
        self._held_as = desktop

    async def let_go(self) -> None:
        """Let other desktops change the node again."""
        desktop, self._held_as = self._held_as, None
        if desktop is not None and self._session is not None:
            # A lost connection needs no word: the node forgets who held it a minute later.
            with contextlib.suppress(ConnectionFailed, DeadlineExceeded):
                await self._session.rpc.call(
                    "lock.release", {"desktop": desktop}, deadline_s=self.desktop.deadlines.close_s
                )

    async def _hold_again(self, session: Session) -> None:
        """The lock belongs to a connection: a new one asks for it before anybody can use the link."""
        if self._held_as is None:
            return
        try:
            await session.rpc.call("lock.take", {"desktop": self._held_as}, deadline_s=self.desktop.deadlines.command_s)
        except StellwerkError as error:
            # Somebody took the node over: what needs the lock is refused by the node itself and says so.
            log.warning("%s: not held any more: %s", self.name, error)

    def subscribe(self, rate_hz: float = 1.0) -> AsyncIterator[Sample]:
        """Samples for as long as the link is not closed: over reconnects too, with what was missed filled in.

        Other readers of the same link may make it faster than `rate_hz`.
        """
        return self._samples.read(rate_hz)

    async def ready(self, deadline_s: float) -> None:
        """Wait until the link is ready. Raises its error when it needs attention, `DeadlineExceeded` when late."""
        try:
            async with asyncio.timeout(deadline_s):
                while self.state is not LinkState.READY:
                    if self.state in (LinkState.NEEDS_ATTENTION, LinkState.CLOSED):
                        raise self.error or self._not_connected()
                    await self._changed.wait()
        except TimeoutError:
            raise DeadlineExceeded(
                say("there was no connection within {deadline_s} s", deadline_s=f"{deadline_s:g}"),
                node=self.name,
                why=self.reason,
            ) from None

    async def close(self) -> None:
        """End the link; no task of it is left afterwards. The node keeps its agent."""
        await self.let_go()
        for task in (self._opening, self._owner):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        session = self._drop_session()
        self._set(LinkState.CLOSED, "")
        await self._close_session(session)
        await self._close_session(self._ending)

    async def release(self) -> Session:
        """Hand the open session to the caller, who closes it; the link is closed and reconnects no more."""
        self._rpc()
        if self._owner is not None:
            # Cancelling the owner would end its session: it is taken away first.
            session, self._session = self._session, None
            assert session is not None
            self._owner.cancel()
            await asyncio.gather(self._owner, return_exceptions=True)
            self._set(LinkState.CLOSED, "")
            return session
        raise self._not_connected()

    async def _open(self, prompts: Prompts | None) -> None:
        if self.state is LinkState.READY:
            return
        if self._opening is not None and not self._opening.done():
            raise StellwerkError("a connection is being opened already", node=self.name)
        await self._end_owner()
        opening = Opening(self.name, self.target, self.desktop, prompts, self._set)
        self._opening = asyncio.create_task(opening.run(), name=f"opening {self.name}")
        try:
            session = await self._opening
        except asyncio.CancelledError:
            self._set(LinkState.FOUND, "cancelled")
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise Cancelled("the connection was closed while it was being opened", node=self.name) from None
        except StellwerkError as error:
            self._fail(error)
            raise
        await self._hold_again(session)
        self._adopt(session)
        self._owner = asyncio.create_task(self._keep(session), name=f"link to {self.name}")

    async def _end_owner(self) -> None:
        if self._owner is not None:
            self._owner.cancel()
            await asyncio.gather(self._owner, return_exceptions=True)
            self._owner = None

    async def _keep(self, session: Session) -> None:
        """Watch the session; open another when it ends; stop when a person is needed."""
        loop = asyncio.get_running_loop()
        delay_s = self.desktop.deadlines.reconnect_first_s
        while True:
            began = loop.time()
            reason = await asyncio.shield(session.reading)
            if loop.time() - began >= _STABLE_S:
                delay_s = self.desktop.deadlines.reconnect_first_s
            self._drop_session()
            self._set(LinkState.RECONNECTING, str(reason))
            self._ending = session
            await self._close_session(session)
            again = await self._reconnect(reason, delay_s)
            if again is None:
                return
            session = again
            delay_s = min(delay_s * 2, self.desktop.deadlines.reconnect_max_s)
            await self._hold_again(session)
            self._adopt(session)

    async def _reconnect(self, why: StellwerkError, delay_s: float) -> Session | None:
        deadlines = self.desktop.deadlines
        refusals = 0
        for attempt in itertools.count(1):
            # Spread out, so that eight nodes behind one switch do not all knock at the same moment.
            await self._pause(delay_s * random.uniform(0.8, 1.2), attempt, why)
            opening = Opening(self.name, self.target, self.desktop, None, self._report_quietly)
            try:
                return await opening.run()
            except (LoginFailed, AgentRefused) as error:
                refusals += 1
                why = error
                if refusals >= _REFUSALS_WHILE_RECONNECTING:
                    break
            except (ConnectionFailed, DeadlineExceeded) as error:
                why = error
            except StellwerkError as error:
                why = error
                break
            delay_s = min(delay_s * 2, deadlines.reconnect_max_s)
        self._fail(why)
        return None

    async def _pause(self, pause_s: float, attempt: int, why: StellwerkError) -> None:
        self.error = why
        self._set(
            LinkState.RECONNECTING,
            say("attempt {number} in {pause} s. {why}", number=attempt, pause=f"{pause_s:.1f}", why=why),
        )
        await asyncio.sleep(pause_s)

    def _report_quietly(self, state: LinkState, reason: str) -> None:
        """While reconnecting the state stays so: flickering through the steps would tell nobody anything."""
        self._set(LinkState.RECONNECTING, reason)

    def _adopt(self, session: Session) -> None:
        self._session = session
        self.hello = session.hello
        self.error = None
        self._set(LinkState.READY, "")

    def _drop_session(self) -> Session | None:
        session, self._session = self._session, None
        return session

    async def _close_session(self, session: Session | None) -> None:
        if session is not None:
            await session.close(self.desktop.deadlines)
        self._ending = None

    def _fail(self, error: StellwerkError) -> None:
        self.error = error
        self._set(LinkState.NEEDS_ATTENTION, str(error))

    def _set(self, state: LinkState, reason: str) -> None:
        if (state, reason) == (self.state, self.reason):
            return
        self.state, self.reason = state, reason
        log.info("%s: %s%s", self.name, state.value, f": {reason}" if reason else "")
        self._changed.set()
        self._changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        for callback in tuple(self._callbacks):
            loop.call_soon(callback, state, reason)  # an error in a callback is its own, not the link's

    def _rpc(self) -> RpcClient:
        if self._session is None:
            raise self._not_connected()
        return self._session.rpc

    def _not_connected(self) -> ConnectionFailed:
        return ConnectionFailed(
            "there is no connection",
            node=self.name,
            why=say("{state}: {reason}", state=self.state.word, reason=whole(self.reason))
            if self.reason
            else self.state.word,
            remedy="Wait until it is connected again, or pair the machine",
        )

    async def _next_rpc(self, previous: RpcClient | None) -> tuple[RpcClient, Hello] | None:
        """The agent, as soon as there is another than `previous`; `None` when the link is closed."""
        while self._session is None or self._session.rpc is previous:
            if self.state is LinkState.CLOSED:
                return None
            await self._changed.wait()
        return self._session.rpc, self._session.hello
