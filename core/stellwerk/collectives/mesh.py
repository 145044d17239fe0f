"""Connections between all pairs of ranks, made during the set-up. Afterwards nothing listens any more."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stellwerk.collectives.admission import Admission
from stellwerk.collectives.handshake import HANDSHAKE_S, TokenRefused, introduce

RETRY_S = 0.1
Dial = Callable[[str], str]


class Mesh:
    """Listens for the ranks above this one and calls the ranks below it.

    `addresses` gives the own address by which a peer reaches this rank, where that differs from `address` (a ring: one
    subnet per cable). `dial` maps an advertised address to the one to bind or call (identity on real machines).
    """

    def __init__(
        self,
        rank: int,
        ranks: int,
        group: str,
        token: bytes,
        address: str,
        addresses: Mapping[int, str],
        dial: Dial,
    ) -> None:
        self.rank, self.ranks, self._group, self._token, self._dial = rank, ranks, group, token, dial
        self._arrived: dict[tuple[str, int], socket.socket] = {}
        self._news = threading.Condition()
        self._listeners: dict[str, socket.socket] = {}
        self._closing = False
        self._source = {peer: addresses.get(peer, address) for peer in range(ranks)}
        self.advertised: list[tuple[str, int]] = []
        self._doors: list[Admission] = []
        try:
            for peer in range(ranks):
                own = self._source[peer]
                if own not in self._listeners:
                    self._listeners[own] = self._listen(own)
                self.advertised.append((own, self._listeners[own].getsockname()[1]))
        except BaseException:
            self.close()
            raise
        for listener in self._listeners.values():
            self._doors.append(Admission(listener, token, self._came, lambda: None))

    def _listen(self, own: str) -> socket.socket:
        host = self._dial(own)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, 0), family=family, backlog=128)

    def _came(self, sock: socket.socket, hello: dict[str, Any]) -> None:
        try:
            key = (str(hello["purpose"]), int(hello["rank"]))
            known = hello["group"] == self._group and self.rank < key[1] < self.ranks
        except (ValueError, KeyError, TypeError):
            known, key = False, ("", -1)
        with self._news:
            if not known or key in self._arrived or self._closing:
                sock.close()  # a rank of somebody else's group: the one that is missing gets named
                return
            self._arrived[key] = sock
            self._news.notify_all()

    def connect(
        self, where: list[list[Any]], purpose: str, deadline: float
    ) -> tuple[dict[int, socket.socket], dict[int, str]]:
        """Connect all pairs for one purpose. `where[peer][rank]` is the address at which a peer expects this rank.

        Returns the connections and, for the pairs that failed, why.
        """
        sockets: dict[int, socket.socket] = {}
        failures: dict[int, str] = {}
        below = range(self.rank)
        with ThreadPoolExecutor(max_workers=max(1, len(below)), thread_name_prefix="stellwerk-call") as pool:
            calls = {
                peer: pool.submit(self._call, peer, tuple(where[peer][self.rank]), purpose, deadline) for peer in below
            }
            for peer in range(self.rank + 1, self.ranks):
                arrived = self._await(purpose, peer, deadline)
                if arrived is None:
                    failures[peer] = f"rank {peer} did not reach {self._source[peer]}"
                else:
                    sockets[peer] = arrived
            for peer, call in calls.items():
                try:
                    sockets[peer] = call.result()
                except (OSError, TokenRefused, ValueError) as error:
                    host, port = where[peer][self.rank]
                    failures[peer] = f"{self._source[peer]} did not reach {host}:{port}: {error}"
        for sock in sockets.values():
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return sockets, failures

    def _await(self, purpose: str, peer: int, deadline: float) -> socket.socket | None:
        with self._news:
            self._news.wait_for(lambda: (purpose, peer) in self._arrived, timeout=max(0.0, deadline - time.monotonic()))
            return self._arrived.pop((purpose, peer), None)

    def _call(self, peer: int, address: tuple[str, int], purpose: str, deadline: float) -> socket.socket:
        host, port = self._dial(address[0]), address[1]
        source = (self._dial(self._source[peer]), 0)
        while True:
            left = deadline - time.monotonic()
            try:
                sock = socket.create_connection((host, port), timeout=max(0.001, left), source_address=source)
                break
            except OSError:
                if left <= 2 * RETRY_S:
                    raise
                time.sleep(RETRY_S)  # the peer listens already: what failed may be a link that is just coming up
        try:
            hello = {"group": self._group, "purpose": purpose, "rank": self.rank}
            introduce(sock, self._token, hello, min(deadline, time.monotonic() + 2 * HANDSHAKE_S))
        except BaseException:
            sock.close()
            raise
        return sock

    def close(self) -> None:
        """Stop listening and drop connections that nobody asked for."""
        with self._news:
            self._closing = True
            for sock in self._arrived.values():
                sock.close()
            self._arrived.clear()
        for door in self._doors:
            door.close()
        for listener in self._listeners.values():
            listener.close()


def close_all(sockets: Mapping[int, socket.socket]) -> None:
    """Close connections, whatever state they are in."""
    for sock in sockets.values():
        with contextlib.suppress(OSError):
            sock.close()
