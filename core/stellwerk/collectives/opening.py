"""Opens what carries the bytes on every rank: sockets, RDMA devices, shared memory.

All ranks open the same transport at the same time and tell each other how it went, also when they failed: nobody waits
for a rank that has given up.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stellwerk.collectives.engine import Engine, Link, ShmEngine, TcpEngine, VerbsEngine, shm_segment
from stellwerk.collectives.kinds import Transport
from stellwerk.collectives.mesh import close_all
from stellwerk.collectives.neighbours import NeighbourEngine
from stellwerk.collectives.options import RING_BYTES, VERBS_SLOT_BYTES
from stellwerk.collectives.pure import PythonEngine
from stellwerk.collectives.roce import Routes

VERBS_LIBRARY = "libibverbs.so.1"


class NotUsable(Exception):
    """This rank cannot use a transport; the text says why. `here`: not only because another rank cannot."""

    def __init__(self, why: str, *, here: bool = True) -> None:
        self.here = here
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Opener:
    """What one rank needs for opening."""

    rank: int
    ranks: int
    ranks_here: int  # on this rank's machine, this one included
    ring: bool  # not everybody is a neighbour of everybody
    link: Link
    exchange: Callable[[Any], list[Any]]  # with all ranks
    connect: Callable[[Transport], tuple[dict[int, socket.socket], dict[int, str]]]  # to all: sockets, failures
    routes: Callable[[], Routes]
    note: Callable[[str], object]

    def open(self, transport: Transport) -> Engine:
        """The engine, or NotUsable, OSError, MemoryError on this rank."""
        if transport is Transport.SHM:
            return self._open_shm()
        if transport is Transport.VERBS:
            return self._open_verbs()
        return self._open_sockets(transport)

    def _open_sockets(self, transport: Transport) -> Engine:
        sockets, failures = self.connect(transport)
        if failures:
            close_all(sockets)
            raise NotUsable("; ".join(failures.values()))
        if transport is Transport.PYTHON:
            return PythonEngine(self.rank, self.ranks, sockets, self.link)
        engine = TcpEngine(self.rank, self.ranks, sockets, self.link)
        engine.set_waiting(*self._waiting(looks=200))
        return engine

    def _open_verbs(self) -> Engine:
        engine: VerbsEngine | None = None
        trouble, mine = "", []
        try:
            engine = VerbsEngine(self.rank, self.routes(), VERBS_SLOT_BYTES, VERBS_LIBRARY)
            mine = engine.addresses()
        except (OSError, MemoryError) as error:
            trouble = str(error)
        try:
            everybody = self.exchange([trouble, mine])  # also by a rank that failed: the others wait for it
            if engine is not None and not any(answer[0] for answer in everybody):
                try:
                    engine.join([answer[1][self.rank] for answer in everybody])
                except OSError as error:
                    trouble = str(error)
            # Only when all have joined may anybody send, or go on to connections that all must make.
            bad = [rank for rank, answer in enumerate(self.exchange(trouble)) if answer]
            if engine is None or bad:
                raise NotUsable(trouble or f"rank {bad[0]} could not open its devices", here=bool(trouble))
            engine.set_waiting(*self._waiting(looks=2000))
            if not self.ring:
                return engine
            self.note("RDMA carries what runs around the ring; calls to ranks further away go over TCP")
            return NeighbourEngine(engine, self._open_sockets(Transport.TCP))
        except BaseException:
            if engine is not None:
                engine.close()
            raise

    def _open_shm(self) -> Engine:
        nonce, fd, trouble = secrets.token_bytes(32), -1, ""
        if self.rank == 0:
            try:
                fd = shm_segment(self.ranks, RING_BYTES, nonce)
            except OSError as error:
                trouble = f"no shared memory: {error.strerror or error}"
        try:
            answer = self.exchange([os.getpid(), fd, nonce.hex(), trouble])[0]
            pid, its_fd, its_nonce, its_trouble = answer
            engine: Engine | None = None
            if not its_trouble:
                try:
                    engine = self._attach(fd, pid, its_fd, bytes.fromhex(its_nonce))
                except (OSError, MemoryError) as error:
                    trouble = f"the shared memory of rank 0 cannot be opened: {error}"
            self.exchange(None)  # rank 0 keeps its descriptor until everybody has opened it
        finally:
            if fd >= 0:
                os.close(fd)
        if engine is None:
            raise NotUsable(its_trouble or trouble)
        return engine

    def _attach(self, own_fd: int, pid: int, fd: int, nonce: bytes) -> Engine:
        opened = own_fd if self.rank == 0 else os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR | os.O_CLOEXEC)
        try:
            engine = ShmEngine(self.rank, self.ranks, opened, RING_BYTES, nonce, self.link)
        finally:
            if self.rank != 0:
                os.close(opened)
        engine.set_waiting(*self._waiting(looks=2000))
        return engine

    def _waiting(self, looks: int) -> tuple[int, int]:
        """Looks on the processor, and looks with sched_yield. Ranks that share processors must not keep them."""
        return (looks if self.ranks_here <= len(os.sched_getaffinity(0)) else 0, 200)
