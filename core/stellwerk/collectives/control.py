"""The control channel: one quiet connection per pair, watched by a thread of its own.

It notices a peer's death at once (whatever carries the data), spreads the reason for giving up, answers a peer that
asks "are you there, and what are you waiting for?", and carries the set-up of sub-groups. Idle, it costs nothing.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stellwerk.collectives.errors import Aborted, CallMismatch, CollectiveError, PeerLost
from stellwerk.collectives.handshake import FRAME_BYTES_MAX

LINGER_S = 0.3  # a dying peer's last words may lag behind the end of its data connection


class GaveUp(Aborted):
    """Aborted by another rank, for a reason of its own."""

    def __init__(self, rank: int, host: str, why: str) -> None:
        self.rank = rank
        self.why = why
        super().__init__(f"rank {rank} on {host} gave up: {why}")


@dataclass(frozen=True, slots=True)
class PeerState:
    """What a peer said about itself when it was asked."""

    calls: int
    done: int
    waiting_on: int
    doing: str


class Control:
    """Owns the control connections. `on_fatal` is called once, from the watching thread or from `give_up`."""

    def __init__(
        self,
        rank: int,
        hosts: list[str],
        sockets: dict[int, socket.socket],
        state: Callable[[], PeerState],
    ) -> None:
        self.rank, self.hosts = rank, hosts
        self._sockets = sockets
        self._state = state
        self._news = threading.Condition()
        self._fatal: CollectiveError | None = None
        self._on_fatal: Callable[[CollectiveError], None] = lambda _: None
        self._gone: dict[int, str] = {}  # peers that said goodbye
        self._states: dict[int, PeerState] = {}
        self._values: dict[tuple[str, int, int], Any] = {}
        self._told: set[str] = set()
        self._send_locks = {peer: threading.Lock() for peer in sockets}
        self._inbox = {peer: bytearray() for peer in sockets}
        self._closing = False
        self._wake_out, self._wake_in = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, name=f"stellwerk-control-{rank}", daemon=True)
        for sock in sockets.values():
            sock.setblocking(False)
        self._thread.start()

    # ---- what the communicator asks --------------------------------------------------------------------------------

    @property
    def fatal(self) -> CollectiveError | None:
        """Why the communicator is over, if it is."""
        return self._fatal

    def watch_fatal(self, callback: Callable[[CollectiveError], None]) -> None:
        """Call `callback` once when the communicator is over; at once if it is already."""
        with self._news:
            self._on_fatal = callback
            fatal = self._fatal
        if fatal is not None:
            callback(fatal)

    def is_gone(self, peer: int) -> bool:
        """True if the peer closed the communicator in good order."""
        return peer in self._gone

    def ask_all(self) -> None:
        """Ask every peer for its state; `answers()` has what came."""
        with self._news:
            self._states.clear()
        for peer in self._sockets:
            self._send(peer, {"kind": "ask"})

    def answers(self) -> dict[int, PeerState]:
        """The states that arrived since `ask_all`."""
        with self._news:
            return dict(self._states)

    def verdict(self, seconds: float = LINGER_S) -> CollectiveError | None:
        """Wait a moment for a peer's explanation of what was just noticed on the data path."""
        with self._news:
            self._news.wait_for(lambda: self._fatal is not None, timeout=seconds)
            return self._fatal

    def give_up(self, error: CollectiveError) -> CollectiveError:
        """End the communicator for this reason, here and on every peer. The first reason wins and is returned."""
        first = self._set_fatal(error)
        if first is error:
            for peer in self._sockets:
                self._send(peer, _to_frame(error, self.rank))
        return first

    def tell(self, word: str) -> None:
        """Say a word to every peer."""
        for peer in self._sockets:
            self._send(peer, {"kind": "word", "word": word})

    def was_told(self, word: str) -> bool:
        """True if a peer said this word."""
        return word in self._told

    def give(self, group: str, round_: int, members: list[int], value: Any) -> None:
        """Send a value of a sub-group's set-up to its members."""
        for peer in members:
            if peer != self.rank:
                self._send(peer, {"kind": "value", "group": group, "round": round_, "value": value})

    def take(self, group: str, round_: int, member: int, deadline: float) -> Any:
        """Wait for a member's value. TimeoutError at the deadline, the communicator's error if it ended."""
        key = (group, round_, member)
        with self._news:
            self._news.wait_for(
                lambda: key in self._values or self._fatal is not None, timeout=max(0.0, deadline - time.monotonic())
            )
            if key in self._values:
                return self._values.pop(key)
            if self._fatal is not None:
                raise self._fatal
        raise TimeoutError(f"rank {member} did not come")

    def close(self) -> None:
        """Say goodbye and stop watching."""
        if self._closing:
            return
        self._closing = True
        # A peer that has not heard the reason from whoever found it must not take our leaving for the reason.
        last_words = {"kind": "bye"} if self._fatal is None else _to_frame(self._fatal, self.rank)
        for peer in self._sockets:
            self._send(peer, last_words)
        self._wake_in.send(b"x")
        if threading.current_thread() is not self._thread:
            self._thread.join()
        for sock in (*self._sockets.values(), self._wake_in, self._wake_out):
            sock.close()

    def left_to_parent(self) -> None:
        """In a forked process: let go of the connections without a word; they are the parent's.

        Held open here, they would hide the parent's death from its peers. Locks may be held by threads that do not
        exist in this process.
        """
        self._closing = True
        self._news = threading.Condition()
        self._fatal = Aborted(f"the communicator belongs to process {os.getppid()}; a forked process has no part in it")
        for sock in (*self._sockets.values(), self._wake_in, self._wake_out):
            sock.close()
        self._sockets = {}

    # ---- the watching thread ---------------------------------------------------------------------------------------

    def _watch(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_out, selectors.EVENT_READ, -1)
            for peer, sock in self._sockets.items():
                selector.register(sock, selectors.EVENT_READ, peer)
            while not self._closing:
                for key, _ in selector.select():
                    if key.data >= 0 and not self._closing and not self._read(key.data):
                        selector.unregister(key.fileobj)

    def _read(self, peer: int) -> bool:
        """Take in what a peer sent; False when there will be no more."""
        try:
            data = self._sockets[peer].recv(65536)
        except (BlockingIOError, InterruptedError):
            return True
        except OSError as error:
            self._lost(peer, f"its connection broke: {error.strerror or error}")
            return False
        if not data:
            self._lost(peer, "its process ended or its connection was cut")
            return False
        inbox = self._inbox[peer]
        inbox += data
        while len(inbox) >= 4:
            (size,) = struct.unpack_from("!I", inbox)
            if size > FRAME_BYTES_MAX:
                self._lost(peer, "it sent bytes that are not of this protocol")
                return False
            if len(inbox) < 4 + size:
                break
            frame = json.loads(bytes(inbox[4 : 4 + size]))
            del inbox[: 4 + size]
            self._handle(peer, frame)
        return True

    def _handle(self, peer: int, frame: Mapping[str, Any]) -> None:
        kind = frame.get("kind")
        if kind == "ask":
            state = self._state()
            self._send(peer, {"kind": "state", "state": [state.calls, state.done, state.waiting_on, state.doing]})
        elif kind == "state":
            with self._news:
                self._states[peer] = PeerState(*frame["state"])
                self._news.notify_all()
        elif kind == "bye":
            with self._news:
                self._gone[peer] = "closed the communicator"
                self._news.notify_all()
        elif kind == "value":
            with self._news:
                self._values[str(frame["group"]), int(frame["round"]), peer] = frame["value"]
                self._news.notify_all()
        elif kind == "word":
            self._told.add(str(frame["word"]))
        elif kind == "over":
            self._set_fatal(_from_frame(frame, peer, self.rank, self.hosts))

    def _lost(self, peer: int, why: str) -> None:
        if peer in self._gone or self._closing:
            return
        self._set_fatal(PeerLost(peer, self.hosts[peer], why))

    def _set_fatal(self, error: CollectiveError) -> CollectiveError:
        with self._news:
            if self._fatal is not None:
                return self._fatal
            self._fatal = error
            callback = self._on_fatal
            self._news.notify_all()
        callback(error)
        return error

    def _send(self, peer: int, frame: Mapping[str, Any]) -> None:
        """Send a small frame. A peer that takes nothing any more is dead or stopped: its frames are dropped, the
        deadline of the call names it."""
        data = json.dumps(frame, separators=(",", ":")).encode()
        data = struct.pack("!I", len(data)) + data
        give_up_at = time.monotonic() + 1.0
        with self._send_locks[peer]:
            while data:
                try:
                    data = data[self._sockets[peer].send(data) :]
                except (BlockingIOError, InterruptedError):
                    if time.monotonic() > give_up_at:
                        return
                    time.sleep(0.001)  # a full buffer of a control connection is rare and means trouble anyway
                except OSError:
                    return  # its death is noticed by the watching thread


def _to_frame(error: CollectiveError, sender: int) -> dict[str, Any]:
    if isinstance(error, PeerLost):
        return {"kind": "over", "what": "lost", "rank": error.rank, "why": error.why}
    if isinstance(error, CallMismatch):
        return {"kind": "over", "what": "mismatch", "rank": error.rank, "why": error.why}
    if isinstance(error, GaveUp):
        return {"kind": "over", "what": "aborted", "rank": error.rank, "why": error.why}
    return {"kind": "over", "what": "aborted", "rank": sender, "why": str(error)}


def _from_frame(frame: Mapping[str, Any], peer: int, own: int, hosts: list[str]) -> CollectiveError:
    what, rank, why = frame.get("what"), int(frame.get("rank", peer)), str(frame.get("why", ""))[:1000]
    if what == "mismatch":
        return CallMismatch(rank, why)
    if what == "lost" and rank == own:
        return Aborted(f"the other ranks went on without this one (rank {own}): {why}")
    if what == "lost":
        return PeerLost(rank, hosts[rank] if 0 <= rank < len(hosts) else "an unknown host", why)
    return GaveUp(rank, hosts[rank] if 0 <= rank < len(hosts) else "an unknown host", why)
