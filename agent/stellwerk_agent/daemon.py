"""The daemon: one per user and node. Serves every attached desktop on a Unix socket, and nothing else listens."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import os
import platform
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import StellwerkError
from stellwerk.model.guard import Hello
from stellwerk_agent import paths, selfrun
from stellwerk_agent.options import Options, parse_unprivileged
from stellwerk_agent.probes import host
from stellwerk_agent.reading import Reader, clean
from stellwerk_agent.rpc import Call, Connection, Registry
from stellwerk_agent.services import Services
from stellwerk_agent.uninstall import remove_state

log = logging.getLogger("stellwerk.daemon")

EXIT_RUNNING = 73  # another daemon holds the lock
EXIT_REFUSED = 78
LOG_BYTES = 1024 * 1024
# How often the daemon looks whether its socket is still there: without it nobody can ever reach it again.
SOCKET_CHECK_S = 20.0
READY_VARIABLE = "STELLWERK_AGENT_READY_FD"  # a pipe to the attach that started us
READY = "ready"


@dataclass(frozen=True, slots=True)
class HelloParams:
    protocol: int = wire.PROTOCOL
    desktop: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """Asked by an `attach` of another agent that is about to start its own daemon."""

    by: str = ""


def main(argv: Sequence[str]) -> int:
    """Run until told to stop. Exit codes: 0, 73 when another daemon runs, 78 when this one cannot."""
    try:
        options = parse_unprivileged(argv)
        paths.prepare_state_dir(options.state_dir)
        lock = paths.try_file_lock(options.state_dir / "daemon.lock")
    except (StellwerkError, OSError) as error:
        return _give_up(error)
    if lock is None:
        tell_starter("another daemon is running here")
        return EXIT_RUNNING
    _start_log(options.state_dir)
    try:
        listener = paths.listen(paths.socket_path(options.state_dir))
        try:
            uninstalled = asyncio.run(_serve(options, listener))
        finally:
            # While the lock is held no other daemon can have put its own socket there.
            paths.socket_path(options.state_dir).unlink(missing_ok=True)
        if uninstalled:
            remove_state(options.state_dir)
        return 0
    except (StellwerkError, OSError) as error:
        return _give_up(error)
    finally:
        os.close(lock)


def _give_up(error: Exception) -> int:
    log.error("cannot run: %s", error)
    tell_starter(str(error))
    return EXIT_REFUSED


def _start_log(state_dir: Path) -> None:
    """Log to a small rotating file. A full disk must not stop the agent, so failures to log are dropped."""
    logging.raiseExceptions = False
    logger = logging.getLogger("stellwerk")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        descriptor = os.open(state_dir / "agent.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.close(descriptor)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            state_dir / "agent.log", maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8"
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)


async def _serve(options: Options, listener: socket.socket) -> bool:
    """Serve until the end; true when the agent was uninstalled."""
    daemon = Daemon(options)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.stop, signal.Signals(number).name)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the end of the SSH session is not the daemon's end
    return await daemon.run(listener)


class Daemon:
    """All that lives as long as the daemon: the services, the connections, the way to an end."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.started_at = time.time()
        self._me = selfrun.find_self()
        self._hash = selfrun.agent_hash(self._me)
        self._reader = Reader(options.root)
        self._node_id = host.node_id(self._reader, options.state_dir)
        self._connections: dict[Connection, asyncio.Task[None]] = {}
        self._stop = asyncio.Event()
        self._registry = Registry()
        self._registry.add("hello", HelloParams, self._hello)
        self._registry.add("agent.stop", Stop, self._stop_by_request)
        self._services = Services(options, self._me, self.stop)
        self._services.register(self._registry)

    def stop(self, why: str) -> None:
        """End the daemon; jobs go on in their keepers."""
        log.info("stopping: %s", why)
        self._stop.set()

    async def run(self, listener: socket.socket) -> bool:
        """Serve on `listener` until `stop`; true when that was the end of an uninstall."""
        path = paths.socket_path(self.options.state_dir)
        mine = path.stat().st_ino
        # From 3.13 on asyncio would look for the socket under its short name, which may not exist any more.
        more: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
        server = await asyncio.start_unix_server(self._attached, sock=listener, limit=wire.MAX_LINE_BYTES, **more)
        await self._services.start()
        log.info("daemon %s (%s) listens", selfrun.version(), self._hash[:16])
        tell_starter(READY)
        try:
            while not await _wait(self._stop, SOCKET_CHECK_S):
                if not self._connections and not _same_file(path, mine):
                    self.stop("the socket was removed")
        finally:
            server.close()
            for connection in self._connections:
                connection.close()
            if self._connections:
                await asyncio.wait(list(self._connections.values()))
            await self._services.stop()
        return self._services.uninstall.done

    async def _attached(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer, self._registry)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.run()
        finally:
            del self._connections[connection]

    async def _hello(self, call: Call, params: HelloParams) -> Hello:
        call.connection.context.desktop = clean(params.desktop) or None
        return Hello(
            protocol=wire.PROTOCOL,
            agent_hash=self._hash,
            agent_version=selfrun.version(),
            node_id=self._node_id,
            boot_id=host.boot_id(self._reader),
            hostname=host.hostname(self._reader),
            pid=os.getpid(),
            started_at=self.started_at,
            python=platform.python_version(),
            holder=self._services.lock.holder,
        )

    async def _stop_by_request(self, call: Call, params: Stop) -> dict[str, str]:
        call.when_answered = lambda: self.stop(f"replaced by {clean(params.by) or 'another agent'}")
        return {}


async def _wait(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), timeout_s)
    except asyncio.TimeoutError:
        return False
    return True


def _same_file(path: Path, inode: int) -> bool:
    try:
        return path.stat().st_ino == inode
    except OSError:
        return False


def tell_starter(text: str) -> None:
    """Tell the `attach` that started us that we are `ready`, or why we cannot run. Not a file: the disk may be full."""
    descriptor = os.environ.pop(READY_VARIABLE, "")
    if not descriptor.isdecimal():
        return
    try:
        os.write(int(descriptor), text.encode()[:4000])
    except BrokenPipeError:
        pass  # it was ended while we started; the next one finds us by the socket
    os.close(int(descriptor))
