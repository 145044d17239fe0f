"""The guard process: carries out one transaction, answers on its socket, goes back unless it is told to stay.

Two processes hold the lock: a supervisor that only waits, and a worker that does everything. Should the worker be
killed, the supervisor goes back. Should both be, the next `status` or `start` does, or the next boot.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import Busy, StellwerkError
from stellwerk.model.guard import GuardState
from stellwerk.model.text import say
from stellwerk_agent.netguard import files, judge
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.layout import Layout, now_s
from stellwerk_agent.netguard.rollback import Rollback, recover, republish
from stellwerk_agent.netguard.transaction import Machine, Transaction, load_request
from stellwerk_agent.paths import bound

_MAX_REQUEST_BYTES = 64 * 1024
_ANSWER_S = 30.0


@contextlib.contextmanager
def locked(layout: Layout, wait_s: float) -> Iterator[None]:
    """Hold the machine's one lock. Raises `Busy` when a guard keeps it for longer than `wait_s`."""
    judge.prepare_tree(layout)
    descriptor = os.open(layout.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    end_s = now_s() + wait_s
    pause = threading.Event()
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if now_s() >= end_s:
                    raise Busy(
                        "another network change is being held on this node",
                        remedy="confirm or revert it first; it goes back by itself within 15 minutes",
                    ) from None
                pause.wait(0.05)
        yield
    finally:
        os.close(descriptor)


def guard(machine: Machine, plan_id: str) -> int:
    """The life of one guard: 0 when the change was confirmed, 1 when the machine is as it was, 2 when neither."""
    with locked(machine.layout, wait_s=10.0):
        worker = os.fork()
        if worker == 0:
            os._exit(_worker(machine, plan_id))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda received, _frame: _pass_on(worker, received))
        _, status = os.waitpid(worker, 0)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        recover(machine, why=say("the guard was killed by signal {number}", number=os.WTERMSIG(status)))
        final = republish(machine.layout).state
        return {GuardState.CONFIRMED: 0, GuardState.REVERTED: 1}.get(final, 2)


def _pass_on(worker: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, number)


def _worker(machine: Machine, plan_id: str) -> int:
    """What the worker does, with every error turned into words before it ends."""
    try:
        request = load_request(machine.layout, plan_id)
        if request is None:
            sys.stderr.write(f"there is no request {plan_id}\n")
            return 2
        board = Board(plan_id)
        transaction = Transaction(machine, request, board)
        if transaction.state is not GuardState.IDLE:
            sys.stderr.write(f"{plan_id} has been carried out already\n")
            return 2
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda received, frame: _on_signal(board, received, frame))
        with Door(machine.layout, request.owner_uid, board):
            final = carry_out(transaction)
    except Exception as error:
        # Whatever it is, the supervisor must not take it for a clean end: it goes back when it sees a signal.
        sys.stderr.write(f"netguard: {error!r}\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        raise
    return {GuardState.CONFIRMED: 0, GuardState.REVERTED: 1}.get(final, 2)


def _on_signal(board: Board, number: int, _frame: FrameType | None) -> None:
    board.wish("revert", say("the guard was told to end (signal {number})", number=number))


def carry_out(transaction: Transaction) -> GuardState:
    """Prepare, apply, hold and end one transaction. Gives the final state."""
    try:
        transaction.prepare()
        transaction.apply()
        transaction.hold()
        return _hold(transaction)
    except StellwerkError as error:
        why = str(error)
    except OSError as error:
        why = say("{path}: {said}", path=error.filename or say("a file"), said=error.strerror or error)
    return Rollback(transaction, why).run()


def _hold(transaction: Transaction) -> GuardState:
    while True:
        what, why = transaction.board.wait_for_end()
        if what == "revert":
            return Rollback(transaction, why).run()
        try:
            transaction.confirm()
        except (StellwerkError, OSError) as error:
            if transaction.state is GuardState.CONFIRMED:
                transaction.board.note(f"cleaning up after the confirmation: {error}")
                return GuardState.CONFIRMED
            # Not written down, so not confirmed: the lease goes on, the desktop may ask again.
            transaction.board.note(f"cannot be confirmed: {error}")
            transaction.board.drop_wish()
            continue
        return GuardState.CONFIRMED


class Door:
    """The socket of a running guard: one JSON object a line, answered with the status or `{"error": …}`."""

    def __init__(self, layout: Layout, owner_uid: int, board: Board) -> None:
        self._path = layout.socket(owner_uid)
        self._owner_uid = owner_uid
        self._board = board
        self._listener: socket.socket | None = None
        self._server: threading.Thread | None = None
        self._idle = threading.Condition()
        self._answering = 0

    def __enter__(self) -> Door:
        files.make_directory(self._path.parent, 0o755)
        self._listener = _listen(self._path, self._owner_uid)
        self._server = threading.Thread(target=self._serve, args=(self._listener,), daemon=True)
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)
        with self._idle:  # who asked for the confirmation must hear of it before the process ends
            self._idle.wait_for(lambda: self._answering == 0, 5.0)
        if self._listener is not None and self._server is not None:
            self._listener.shutdown(socket.SHUT_RDWR)  # closing alone does not wake `accept`
            self._server.join(5.0)
            self._listener.close()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed: the guard has ended
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # a peer that goes away needs no answer
            connection.settimeout(_ANSWER_S)
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            if uid not in (0, self._owner_uid):
                _send(connection, {"error": "this guard was started by another user"})
                return
            with connection.makefile("rb") as lines:
                while line := lines.readline(_MAX_REQUEST_BYTES):
                    with self._busy():
                        _send(connection, self._answer(line))

    @contextlib.contextmanager
    def _busy(self) -> Iterator[None]:
        with self._idle:
            self._answering += 1
        try:
            yield
        finally:
            with self._idle:
                self._answering -= 1
                self._idle.notify_all()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
            op, plan_id, why = message["op"], message.get("plan_id"), str(message.get("why") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            return {"error": "not a request"}
        board = self._board
        status = board.status()
        if plan_id is not None and plan_id != status.plan_id:
            return {"error": f"this guard holds {status.plan_id}, not {plan_id}"}
        if op == "renew":
            board.renew()
        elif op == "revert":
            board.wish("revert", why or say("asked to go back"))
        elif op == "confirm":
            if status.state not in (GuardState.HOLDING, GuardState.CONFIRMED):
                return {"error": f"cannot be confirmed while {status.state.value}"}
            board.wish("confirm", "")
            status = board.wait_while(GuardState.HOLDING, _ANSWER_S)
            if status.state is GuardState.HOLDING:
                return {"error": "could not be written down, so it is not confirmed"}
        elif op != "status":
            return {"error": f"unknown request {op!r}"}
        answer: dict[str, Any] = wire.to_wire(board.status(), texts=True)
        return answer


def _send(connection: socket.socket, answer: dict[str, Any]) -> None:
    connection.sendall(json.dumps(answer, separators=(",", ":")).encode() + b"\n")


def _listen(path: Path, owner_uid: int) -> socket.socket:
    path.unlink(missing_ok=True)
    listener = bound(path)
    if owner_uid != os.geteuid():
        os.chown(path, owner_uid, -1)
    listener.listen(8)
    return listener
