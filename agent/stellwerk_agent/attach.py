"""`attach`: joins stdin and stdout (the SSH channel) to the daemon, starting or replacing it when needed."""

from __future__ import annotations

import errno
import json
import os
import re
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say
from stellwerk_agent import paths, selfrun
from stellwerk_agent.options import ENVIRONMENT, Options, parse_unprivileged

EXIT_REFUSED = 75  # a newer agent runs here
EXIT_FAILED = 70  # no daemon can be started
EXIT_LOST = 69  # the daemon ended while we were attached
START_LIMIT_S = 30.0
HELLO_LIMIT_S = 15.0
STOP_LIMIT_S = 15.0
HANG_UP_LIMIT_S = 10.0
BUFFER_BYTES = 256 * 1024


class Newer(Exception):
    """A newer agent's daemon runs here."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.version = version


def main(argv: Sequence[str]) -> int:
    """Attach until either side closes."""
    try:
        options = parse_unprivileged(argv)
        paths.prepare_state_dir(options.state_dir)
        me = selfrun.find_self()
        own_hash = selfrun.agent_hash(me)
        connection = reach_daemon(options, me, own_hash)
    except Newer as newer:
        _say({"stellwerk": "refused", "why": "newer", "version": newer.version})
        return EXIT_REFUSED
    except (StellwerkError, OSError) as error:
        _say({"stellwerk": "refused", "why": "failed", "message": str(error)})
        return EXIT_FAILED
    _say({"stellwerk": "attached", "sha256": own_hash, "protocol": wire.PROTOCOL})
    return bridge(connection)


def _say(message: dict[str, Any]) -> None:
    _write_all(1, json.dumps(message).encode() + b"\n")


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def reach_daemon(options: Options, me: selfrun.Self, own_hash: str) -> socket.socket:
    """A connection to a daemon of this very agent. Raises `Newer`, `StellwerkError`, `OSError`."""
    path = paths.socket_path(options.state_dir)
    with paths.file_lock(options.state_dir / "attach.lock"):  # two attaches at once start one daemon
        connection = paths.connect(path)
        if connection is not None:
            hello = greet(connection)
            if hello is not None and hello.get("agent_hash") == own_hash:
                return connection
            if hello is not None:
                _refuse_newer(hello)
            # A daemon that does not answer within the limit is replaced like an old one.
            end_daemon(connection, options, own_hash)
        start_daemon(options, me)
        connection = paths.connect(path)
        if connection is None or greet(connection) is None:
            raise StellwerkError("the agent was started and does not answer", why=last_words(options.state_dir))
        return connection


def greet(connection: socket.socket) -> dict[str, Any] | None:
    """Give the session's context and read `hello`; None when no answer comes."""
    context = {"ssh_connection": os.environ.get("SSH_CONNECTION")}
    try:
        connection.settimeout(HELLO_LIMIT_S)
        connection.sendall(wire.encode(wire.notification("attach.context", context)))
        return _ask(connection, "hello", {"protocol": wire.PROTOCOL, "desktop": ""})
    except (OSError, wire.WireError):
        return None
    finally:
        connection.settimeout(None)


def _ask(connection: socket.socket, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    connection.sendall(wire.encode(wire.request(0, method, params)))
    received = b""
    while not received.endswith(b"\n"):
        block = connection.recv(65536)
        if not block or len(received) > wire.MAX_LINE_BYTES:
            return None
        received += block
    result = wire.decode(received).get("result")
    return result if isinstance(result, dict) else None


def _refuse_newer(hello: dict[str, Any]) -> None:
    protocol, version = hello.get("protocol"), str(hello.get("agent_version", ""))
    if isinstance(protocol, int) and protocol > wire.PROTOCOL:
        raise Newer(version)
    if version_key(version) > version_key(selfrun.version()):
        raise Newer(version)


def version_key(version: str) -> tuple[tuple[int, ...], bool]:
    """Orders releases: numbers first, a pre-release (`0.2.0rc1`, `0.2.0.dev1`) before its release."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    numbers = tuple(int(part) for part in match[0].split(".")) if match else ()
    rest = version[match.end() :] if match else version
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers, not re.match(r"[-._]?(a|b|c|rc|dev|alpha|beta)", rest)


def end_daemon(connection: socket.socket, options: Options, own_hash: str) -> None:
    """Ask the running daemon to stop and wait until its lock is free; one that does not listen is ended."""
    pid = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
    try:
        connection.settimeout(5.0)
        _ask(connection, "agent.stop", {"by": own_hash})
    except (OSError, wire.WireError):
        pass  # its lock below tells whether it ended
    finally:
        connection.close()
    if _wait_for_lock(options.state_dir, STOP_LIMIT_S):
        return
    if pid > 1:
        os.kill(pid, signal.SIGKILL)  # it holds the lock still, so the number is its own
    if not _wait_for_lock(options.state_dir, 5.0):
        raise StellwerkError("the agent that runs here does not end", remedy="end it on the machine, or reboot it")


def _wait_for_lock(state_dir: Path, limit_s: float) -> bool:
    until = time.monotonic() + limit_s
    while True:
        lock = paths.try_file_lock(state_dir / "daemon.lock")
        if lock is not None:
            os.close(lock)
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def start_daemon(options: Options, me: selfrun.Self) -> None:
    """Start a daemon that outlives this session, and wait until it takes connections."""
    reading, writing = os.pipe()
    # The daemon has its values as arguments; the session's own variables end with the session.
    dropped = (ENVIRONMENT, "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "SSH_AUTH_SOCK")
    environment = me.environment({k: v for k, v in os.environ.items() if k not in dropped})
    environment["STELLWERK_AGENT_READY_FD"] = str(writing)
    output = _open_output(options.state_dir)
    try:
        process = subprocess.Popen(
            me.command("daemon", *options.to_argv()),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=options.state_dir,
            start_new_session=True,
            pass_fds=(writing,),
        )
    finally:
        os.close(writing)
        os.close(output)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(reading, selectors.EVENT_READ)
            in_time = bool(selector.select(START_LIMIT_S))
        said = os.read(reading, 4096).decode("utf-8", "replace") if in_time else ""
        if said == "ready":
            return
    finally:
        os.close(reading)
    if not in_time:
        process.kill()
    code = process.wait()
    why = said or last_words(options.state_dir) or say("it ended with code {code}", code=code)
    raise StellwerkError("the agent cannot be started", why=why, remedy=start_remedy(why, options.state_dir))


def start_remedy(why: str, state_dir: Path) -> str:
    """What to do about a daemon that did not start, by its last words."""
    if any(os.strerror(number) in why for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)):
        return "see to free space in the home directory"
    return say("try again; {path} and daemon.log beside it say more", path=state_dir / "daemon.out")


def _open_output(state_dir: Path) -> int:
    """Where a daemon's last words go; without space for a file they go nowhere."""
    try:
        return os.open(state_dir / "daemon.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def last_words(state_dir: Path) -> str:
    """The last line that a daemon wrote before it ended."""
    try:
        lines = (state_dir / "daemon.out").read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1][:500] if lines else ""


def bridge(connection: socket.socket) -> int:
    """Carry bytes both ways until one side ends; gives the exit code."""
    connection.setblocking(False)
    for descriptor in (0, 1):
        os.set_blocking(descriptor, False)
    # poll, not epoll: stdin and stdout may be plain files in a script.
    with selectors.PollSelector() as selector:
        return Bridge(connection, selector).run()


class Bridge:
    """Both directions with bounded buffers: a side that does not read stops the other."""

    def __init__(self, connection: socket.socket, selector: selectors.BaseSelector) -> None:
        self._connection = connection
        self._selector = selector
        self._to_daemon = bytearray()
        self._to_desktop = bytearray()
        self._gone_at: float | None = None  # when the desktop closed its side

    def run(self) -> int:
        """Carry until the end."""
        while True:
            self._watch_what_can_move()
            patience_s: float | None = None
            if self._gone_at is not None:
                patience_s = self._gone_at + HANG_UP_LIMIT_S - time.monotonic()
                if patience_s <= 0:
                    return 0  # a daemon that does not even close must not keep us for ever
            for key, events in self._selector.select(patience_s):
                try:
                    if not self._move(key.fd, events):
                        return _finish(self._to_desktop, self._gone_at is None)
                except BlockingIOError:
                    continue
                except OSError:
                    # The desktop is gone (its pipe is broken), or the daemon is.
                    return EXIT_LOST if key.fd not in (0, 1) else 0
            if self._gone_at is not None and not self._to_daemon:
                _half_close(self._connection)

    def _watch_what_can_move(self) -> None:
        reading = self._gone_at is None and len(self._to_daemon) < BUFFER_BYTES
        _watch(self._selector, 0, selectors.EVENT_READ if reading else 0)
        _watch(self._selector, 1, selectors.EVENT_WRITE if self._to_desktop else 0)
        events = selectors.EVENT_READ if len(self._to_desktop) < BUFFER_BYTES else 0
        events |= selectors.EVENT_WRITE if self._to_daemon else 0
        _watch(self._selector, self._connection.fileno(), events)

    def _move(self, descriptor: int, events: int) -> bool:
        """Carry one block; false when the daemon has closed."""
        if descriptor == 0:
            block = os.read(0, 65536)
            if not block:
                self._gone_at = time.monotonic()
            self._to_daemon += block
        elif descriptor == 1:
            del self._to_desktop[: os.write(1, self._to_desktop)]
        else:
            if events & selectors.EVENT_READ:
                block = self._connection.recv(65536)
                if not block:
                    return False
                self._to_desktop += block
            if events & selectors.EVENT_WRITE and self._to_daemon:
                del self._to_daemon[: self._connection.send(self._to_daemon)]
        return True


def _watch(selector: selectors.BaseSelector, descriptor: int, events: int) -> None:
    known = selector.get_map().get(descriptor)
    if known is None:
        if events:
            selector.register(descriptor, events)
    elif not events:
        selector.unregister(descriptor)
    elif known.events != events:
        selector.modify(descriptor, events)


def _half_close(connection: socket.socket) -> None:
    """Tell the daemon that nothing more comes; it ends the calls that run and closes."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it closed first: the next read shows it


def _finish(to_desktop: bytearray, lost: bool) -> int:
    """Give the desktop what the daemon said last."""
    os.set_blocking(1, True)
    try:
        _write_all(1, bytes(to_desktop))
    except OSError:
        return 0  # nobody is there to read it
    return EXIT_LOST if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
