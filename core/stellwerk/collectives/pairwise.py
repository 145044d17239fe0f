"""send and recv between two ranks, over a connection per pair of their own, so that they never mix with collectives."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from functools import partial

from stellwerk.collectives.buffers import Buffer, view_of
from stellwerk.collectives.control import Control
from stellwerk.collectives.errors import Aborted, CallMismatch, CollectiveError, PeerLost
from stellwerk.collectives.work import Sequencer, Work

MAGIC = 0x53545032
HEADER = struct.Struct("<IiQB")  # magic, tag, bytes, element type
STASH_BYTES_MAX = 256 << 20
SLICE_MS = 50


class Lane:
    """One peer: its messages out and in, each direction in order and independent of the other."""

    def __init__(self, rank: int, peer: int, sock: socket.socket, control: Control, timeout_s: float) -> None:
        self._rank, self._peer, self._sock, self._control, self._timeout_s = rank, peer, sock, control, timeout_s
        sock.setblocking(False)
        self._stash: list[tuple[int, int, bytearray]] = []  # messages with a tag that nobody has asked for yet
        self._out = Sequencer(f"stellwerk-send-{peer}")
        self._in = Sequencer(f"stellwerk-recv-{peer}")

    def send(self, data: Buffer, tag: int, queued: bool) -> Work | None:
        """Send; returns when the memory may be reused, or a Work if `queued`."""
        _check_tag(tag)
        return self._start(self._out, lambda: self._whole(lambda: self._send(data, tag)), queued)

    def recv(self, data: Buffer, tag: int, queued: bool) -> Work | None:
        """Receive a message of exactly this size and type with this tag."""
        _check_tag(tag)
        return self._start(self._in, lambda: self._whole(lambda: self._recv(data, tag)), queued)

    @staticmethod
    def _start(sequencer: Sequencer, task: Callable[[], None], queued: bool) -> Work | None:
        if queued:
            return sequencer.submit(task)
        sequencer.run(task)
        return None

    def offers(self, tag: int) -> bool:
        """True if `recv` of this tag would not wait for a message to begin. Messages with other tags are put aside.

        While another recv is under way on this lane, nothing is offered.
        """
        if not self._in.enter():
            return False
        try:
            while not any(known == tag for known, _, _ in self._stash):
                try:
                    head = self._sock.recv(HEADER.size, socket.MSG_PEEK)
                except (BlockingIOError, InterruptedError):
                    return False
                except OSError:
                    return True  # recv is going to say what has happened
                if len(head) < HEADER.size:
                    return False  # not all of it yet, or the peer has left: then others may still send
                magic, known, size, dtype = HEADER.unpack(head)
                if magic != MAGIC or known == tag:
                    return True
                self._whole(partial(self._put_aside, known, size, dtype, tag, skip=HEADER.size))
            return True
        finally:
            self._in.leave()

    def _whole(self, task: Callable[[], None]) -> None:
        """All of a message, or the end: after half of one the peer would take what follows for the rest."""
        try:
            task()
        except CollectiveError:
            raise
        except BaseException:
            self._over(Aborted("a send or recv was interrupted"))
            raise

    def _send(self, data: Buffer, tag: int) -> None:
        head = memoryview(HEADER.pack(MAGIC, tag, data.nbytes, int(data.dtype)))
        self._move(head, self._sock.send, select.POLLOUT, "takes nothing")
        self._move(view_of(data.address, data.nbytes), self._sock.send, select.POLLOUT, "takes nothing")

    def _recv(self, data: Buffer, tag: int) -> None:
        for index, (known, dtype, body) in enumerate(self._stash):
            if known == tag:
                del self._stash[index]
                self._check(len(body), dtype, data)
                view_of(data.address, data.nbytes)[:] = body
                return
        while True:
            head = memoryview(bytearray(HEADER.size))
            self._move(head, self._sock.recv_into, select.POLLIN, "has sent nothing")
            magic, known, size, dtype = HEADER.unpack(head)
            if magic != MAGIC:
                raise self._over(PeerLost(self._peer, self._host, "it sent bytes that are not of this protocol"))
            if known == tag:
                self._check(size, dtype, data)
                self._move(view_of(data.address, size), self._sock.recv_into, select.POLLIN, "stopped in a message")
                return
            self._put_aside(known, size, dtype, tag)

    def _put_aside(self, known: int, size: int, dtype: int, wanted: int, skip: int = 0) -> None:
        """Keep a message that came before the one with the wanted tag. `skip` bytes of header were only looked at."""
        if size + sum(len(body) for _, _, body in self._stash) > STASH_BYTES_MAX:
            why = f"rank {self._peer} sends tag {known} while rank {self._rank} waits for tag {wanted}"
            raise self._over(CallMismatch(self._rank, why))
        stray = bytearray(skip + size)
        self._move(memoryview(stray), self._sock.recv_into, select.POLLIN, "stopped in a message")
        self._stash.append((known, dtype, stray[skip:]))

    def _check(self, size: int, dtype: int, data: Buffer) -> None:
        if size != data.nbytes or dtype != int(data.dtype):
            why = (
                f"rank {self._peer} sends {size} bytes of type {dtype}, "
                f"rank {self._rank} receives {data.nbytes} bytes of type {int(data.dtype)}"
            )
            raise self._over(CallMismatch(self._rank, why))

    @property
    def _host(self) -> str:
        return self._control.hosts[self._peer]

    def _over(self, error: CollectiveError) -> CollectiveError:
        return self._control.give_up(error)

    def _move(self, view: memoryview, step: Callable[[memoryview], int], event: int, what: str) -> None:
        """Send or receive all of `view`, with an eye on the clock and on the control channel."""
        deadline = time.monotonic() + self._timeout_s
        poll = select.poll()
        poll.register(self._sock, event)
        while len(view):
            try:
                moved = step(view)
                if moved == 0:
                    raise ConnectionError("closed its connection")
                view = view[moved:]
                deadline = time.monotonic() + self._timeout_s
                continue
            except (BlockingIOError, InterruptedError):
                pass
            except OSError as error:
                raise self._control.verdict() or self._over(PeerLost(self._peer, self._host, str(error))) from error
            if self._control.fatal is not None:
                raise self._control.fatal
            if time.monotonic() >= deadline:
                why = f"it {what} for {self._timeout_s:g} s in a send or recv"
                raise self._over(PeerLost(self._peer, self._host, why))
            poll.poll(SLICE_MS)

    def close(self) -> None:
        """End both directions; the communicator has said before that it is over."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._out.close()
        self._in.close()
        self._sock.close()


def _check_tag(tag: int) -> None:
    if not -(1 << 31) <= tag < 1 << 31:
        raise ValueError(f"the tag {tag} does not fit into 32 bits")


def open_lanes(rank: int, sockets: Mapping[int, socket.socket], control: Control, timeout_s: float) -> dict[int, Lane]:
    """One lane per peer."""
    return {peer: Lane(rank, peer, sock, control, timeout_s) for peer, sock in sockets.items()}
