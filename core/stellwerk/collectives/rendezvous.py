"""How ranks find each other: an `exchange` in which every rank gives a value and gets everybody's."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NoReturn, Protocol

from stellwerk.collectives.admission import Admission
from stellwerk.collectives.errors import SetupFailed
from stellwerk.collectives.handshake import (
    TokenRefused,
    introduce,
    local_token,
    receive_frame,
    send_frame,
)

RETRY_S = 0.05
LAST_WORDS_S = 1.0


class Rendezvous(Protocol):
    """All ranks call `exchange` equally often; call k of every rank belongs together."""

    def exchange(self, value: Any, deadline: float) -> list[Any]:
        """Give a JSON value, get those of all ranks in rank order. SetupFailed names who is missing."""

    def close(self) -> None:
        """Let go of what the rendezvous holds."""


def parse_address(text: str) -> tuple[str, int]:
    """`tcp://host:port` or `tcp://[v6]:port`. ValueError says what is wrong."""
    rest = text.removeprefix("tcp://")
    host, _, port = rest.rpartition(":")
    if rest == text or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"the rendezvous {text!r} must look like tcp://host:port")
    return host.strip("[]"), int(port)


class TcpRendezvous:
    """Rank 0 listens, the others call; rank 0 collects and hands out."""

    def __init__(
        self,
        rank: int,
        ranks: int,
        address: tuple[str, int],
        token: bytes,
        deadline: float,
        listener: Any = None,
    ) -> None:
        self._rank, self._ranks, self._token = rank, ranks, token
        self._peers: dict[int, socket.socket] = {}
        self._refused, self._guard = 0, threading.Lock()
        self.local_address = ""
        try:
            if rank == 0:
                self._collect(listener, address, deadline)
            else:
                self._call(address, deadline)
        except BaseException:
            self.close()
            raise

    def _collect(self, given: Any, address: tuple[str, int], deadline: float) -> None:
        try:
            listener = given or socket.create_server(
                address, family=socket.AF_INET6 if ":" in address[0] else socket.AF_INET, backlog=64
            )
        except OSError as error:
            raise SetupFailed(
                f"rank 0 cannot listen on {address[0]}:{address[1]}: {error.strerror or error}. "
                "Another program may use that port, or a second process was started as rank 0; "
                "choose another port on all ranks."
            ) from error
        self.local_address = listener.getsockname()[0]
        arrivals: queue.SimpleQueue[tuple[socket.socket, dict[str, Any]]] = queue.SimpleQueue()
        door = Admission(listener, self._token, lambda sock, hello: arrivals.put((sock, hello)), self._count_refused)
        try:
            while len(self._peers) < self._ranks - 1:
                self._seat_one(arrivals, deadline)
        finally:
            door.close()
            while not arrivals.empty():
                arrivals.get()[0].close()

    def _count_refused(self) -> None:
        with self._guard:
            self._refused += 1

    def _seat_one(self, arrivals: queue.SimpleQueue[tuple[socket.socket, dict[str, Any]]], deadline: float) -> None:
        try:
            sock, hello = arrivals.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            missing = [r for r in range(1, self._ranks) if r not in self._peers]
            refused = f" ({self._refused} callers with a wrong token were refused)" if self._refused else ""
            self._fail_all(f"{_ranks_text(missing)} did not come in time{refused}")
        peer = hello.get("rank")
        if hello.get("ranks") != self._ranks:
            self._fail_all(f"rank {peer} expects {hello.get('ranks')} ranks, rank 0 expects {self._ranks}", sock)
        if not isinstance(peer, int) or not 0 < peer < self._ranks or peer in self._peers:
            self._fail_all(f"two processes say that they are rank {peer}", sock)
        else:
            self._peers[peer] = sock

    def _call(self, address: tuple[str, int], deadline: float) -> None:
        why = "nothing listens there"
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise SetupFailed(f"rank 0 could not be reached at {address[0]}:{address[1]}: {why}")
            try:
                sock = socket.create_connection(address, timeout=min(left, 5.0))
            except OSError as error:  # rank 0 may not be there yet
                why = error.strerror or str(error)
                time.sleep(min(RETRY_S, max(0.0, left)))
                continue
            self._peers[0] = sock
            self.local_address = sock.getsockname()[0]
            try:
                introduce(sock, self._token, {"rank": self._rank, "ranks": self._ranks}, deadline)
            except TokenRefused:
                raise
            except (OSError, ValueError) as error:
                raise SetupFailed(f"rank 0 at {address[0]}:{address[1]} gave up: {error}") from error
            return

    def exchange(self, value: Any, deadline: float) -> list[Any]:
        """See Rendezvous."""
        return self._gather(value, deadline) if self._rank == 0 else self._give(value, deadline)

    def _give(self, value: Any, deadline: float) -> list[Any]:
        try:
            send_frame(self._peers[0], value, deadline)
            answer = receive_frame(self._peers[0], deadline + 1.0)  # rank 0 waits until the deadline and then says who
        except (OSError, ValueError) as error:
            raise SetupFailed(f"rank 0 was lost during the set-up: {error}") from error
        if "failed" in answer:
            raise SetupFailed(str(answer["failed"]))
        values: list[Any] = answer["values"]
        return values

    def _gather(self, value: Any, deadline: float) -> list[Any]:
        values = {0: value}
        for peer, sock in self._peers.items():
            try:
                values[peer] = receive_frame(sock, deadline)
            except TimeoutError:
                self._fail_all(f"rank {peer} did not finish this step of the set-up in time")
            except (OSError, ValueError) as error:
                self._fail_all(f"rank {peer} was lost during the set-up: {error}")
        ordered = [values[r] for r in range(self._ranks)]
        for peer, sock in self._peers.items():
            try:
                send_frame(sock, {"values": ordered}, deadline)
            except OSError as error:
                self._fail_all(f"rank {peer} was lost during the set-up: {error}")
        return ordered

    def _fail_all(self, why: str, misfit: socket.socket | None = None) -> NoReturn:
        """Tell everybody, also a caller that does not fit in, and give up."""
        deadline = time.monotonic() + LAST_WORDS_S
        everybody = [*self._peers.values(), *([misfit] if misfit else [])]
        for sock in everybody:
            with contextlib.suppress(OSError):  # it is going to notice that we are gone
                send_frame(sock, {"failed": why}, deadline)
                sock.shutdown(socket.SHUT_WR)
        for sock in everybody:
            # Who is cut off while it still speaks loses what it has not read yet: the reason.
            with contextlib.suppress(OSError):
                while (left := deadline - time.monotonic()) > 0:
                    sock.settimeout(left)
                    if not sock.recv(1 << 16):
                        break
        if misfit:
            misfit.close()
        raise SetupFailed(why)

    def close(self) -> None:
        """See Rendezvous."""
        for sock in self._peers.values():
            sock.close()
        self._peers.clear()


class StoreRendezvous:
    """Exchange through a torch `Store` (or anything with `set`, `get` and `set_timeout`)."""

    def __init__(self, store: Any, rank: int, ranks: int, prefix: str) -> None:
        self._store, self._rank, self._ranks, self._prefix = store, rank, ranks, prefix
        self._round = 0

    def exchange(self, value: Any, deadline: float) -> list[Any]:
        """See Rendezvous."""
        self._round += 1
        base = f"{self._prefix}/{self._round}"
        self._store.set(f"{base}/{self._rank}", json.dumps(value))
        values = []
        for rank in range(self._ranks):
            left = max(0.001, deadline - time.monotonic())
            try:
                self._store.wait([f"{base}/{rank}"], timedelta(seconds=left))
                values.append(json.loads(self._store.get(f"{base}/{rank}")))
            except RuntimeError as error:  # torch's DistStoreError and its relatives
                raise SetupFailed(f"rank {rank} did not come in time (through the store)") from error
        return values

    def close(self) -> None:
        """See Rendezvous; the store belongs to the caller."""


class PeerExchange:
    """Exchange among some ranks of a communicator, over its control connections."""

    def __init__(
        self, rank: int, ranks: int, give: Callable[[int, Any], None], take: Callable[[int, int, float], Any]
    ) -> None:
        """`give(round, value)` sends to all members, `take(member, round, deadline)` waits for one member's value."""
        self._rank, self._ranks, self._give, self._take = rank, ranks, give, take
        self._round = 0

    def exchange(self, value: Any, deadline: float) -> list[Any]:
        """See Rendezvous."""
        self._round += 1
        self._give(self._round, value)
        return [value if r == self._rank else self._take(r, self._round, deadline) for r in range(self._ranks)]

    def close(self) -> None:
        """See Rendezvous; the connections belong to the communicator."""


def _ranks_text(ranks: list[int]) -> str:
    return ("rank " if len(ranks) == 1 else "ranks ") + ", ".join(map(str, ranks))


def fresh_token() -> str:
    """A secret for ranks that meet in a store which only they can read."""
    return secrets.token_hex(32)


def token_without_one(host: str) -> bytes:
    """Ranks of one user on one machine need not be given a token; across machines it must be given."""
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise SetupFailed(
            f"ranks that meet at {host} need a token: a secret that all of them are given, so that no stranger can join"
        )
    return local_token()


def own_address() -> str:
    """An address of this machine for ranks that meet in a store and were not told one."""
    try:
        return str(socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)[0][4][0])
    except OSError:
        return "127.0.0.1"
