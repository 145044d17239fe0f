"""One SSH channel that runs a program: pipes or a terminal between the channel and a real process of the node."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator
from typing import Any

import asyncssh

from stellwerk.model.errors import StellwerkError
from stellwerk.virtual import hardware
from stellwerk.virtual.machine import Machine
from stellwerk.virtual.process import NodeProcess

BLOCK = 65536
_ACCEPTED = ("LANG", "LC_")  # what Ubuntu's sshd accepts from a client


async def run_session(machine: Machine, process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Run the channel's command (or a login shell) and hand its exit status back."""
    argv = ["/bin/sh", "-c", process.command] if process.command is not None else ["/bin/sh", "-i"]
    env = _environment(machine, process)
    machine.note("ssh", [process.command or "shell"])
    try:
        if process.term_type is not None:
            await _with_terminal(machine, process, argv, {**env, "TERM": process.term_type})
        else:
            await _with_pipes(machine, process, argv, env)
    except StellwerkError as error:
        process.stderr.write(f"{error}\n".encode())
        process.exit(255)
    except (asyncssh.Error, OSError) as error:
        machine.note(f"ssh session ended: {error}")
        process.close()


def _environment(machine: Machine, process: asyncssh.SSHServerProcess[bytes]) -> dict[str, str]:
    offered = {str(key): str(value) for key, value in process.env.items()}
    env = machine.environment() | {key: value for key, value in offered.items() if key.startswith(_ACCEPTED)}
    peer = process.get_extra_info("peername")
    port = peer[1] if peer else 0
    env["SSH_CONNECTION"] = f"{hardware.DESKTOP_ADDRESS} {port} {machine.management_address} 22"
    env["SSH_CLIENT"] = f"{hardware.DESKTOP_ADDRESS} {port} 22"
    return env


@contextlib.contextmanager
def _closing(*fds: int) -> Iterator[None]:
    try:
        yield
    finally:
        for fd in fds:
            os.close(fd)


async def _with_pipes(
    machine: Machine, process: asyncssh.SSHServerProcess[bytes], argv: list[str], env: dict[str, str]
) -> None:
    pairs = [os.pipe2(os.O_CLOEXEC) for _ in range(3)]
    (stdin_r, stdin_w), (stdout_r, stdout_w), (stderr_r, stderr_w) = pairs
    try:
        with _closing(stdin_r, stdout_w, stderr_w):
            program = await machine.spawn(argv, env, (stdin_r, stdout_w, stderr_w))
    except BaseException:
        for fd in (stdin_w, stdout_r, stderr_r):
            os.close(fd)
        raise
    loop = asyncio.get_running_loop()
    feeder = await _writer(loop, stdin_w)
    out, out_transport = await _reader(loop, stdout_r)
    err, err_transport = await _reader(loop, stderr_r)
    pumps = [
        asyncio.create_task(_pump_out(out, process.stdout)),
        asyncio.create_task(_pump_out(err, process.stderr)),
    ]
    feeding = asyncio.create_task(_pump_in(machine, process, feeder, program))
    try:
        await _until_done(process, program, pumps)
    finally:
        await _cancel(*pumps, feeding)
        feeder.close()
        out_transport.close()
        err_transport.close()


async def _with_terminal(
    machine: Machine, process: asyncssh.SSHServerProcess[bytes], argv: list[str], env: dict[str, str]
) -> None:
    master, slave = os.openpty()
    _resize(slave, process.term_size)
    try:
        with _closing(slave):
            program = await machine.spawn(argv, env, (slave, slave, slave), tty=True)
    except BaseException:
        os.close(master)
        raise
    loop = asyncio.get_running_loop()
    feeder = await _writer(loop, os.dup(master))
    out, transport = await _reader(loop, master)
    pump = asyncio.create_task(_pump_out(out, process.stdout))
    feeding = asyncio.create_task(_pump_in(machine, process, feeder, program, terminal=master))
    try:
        await _until_done(process, program, [pump])
    finally:
        await _cancel(pump, feeding)
        feeder.close()
        transport.close()


async def _until_done(
    process: asyncssh.SSHServerProcess[bytes], program: NodeProcess, pumps: list[asyncio.Task[None]]
) -> None:
    """As sshd: the channel ends when the program has ended and its output is closed, or when the client goes.

    A program whose client has gone is not killed: it finds its pipes closed.
    """
    gone = asyncio.create_task(process.wait_closed())
    done = asyncio.create_task(_everything(program, pumps))
    try:
        await asyncio.wait([gone, done], return_when=asyncio.FIRST_COMPLETED)
        if not done.done():
            return
        code = await program.wait()
        if code >= 0:
            process.exit(code)
        else:
            process.exit_with_signal(signal.Signals(-code).name.removeprefix("SIG"))
    finally:
        await _cancel(gone, done)


async def _everything(program: NodeProcess, pumps: list[asyncio.Task[None]]) -> None:
    await program.wait()
    await asyncio.gather(*pumps)


async def _cancel(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _reader(loop: asyncio.AbstractEventLoop, fd: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader(limit=BLOCK)
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
    )
    return reader, transport


async def _writer(loop: asyncio.AbstractEventLoop, fd: int) -> asyncio.StreamWriter:
    pipe = os.fdopen(fd, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def _pump_out(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
    while True:
        try:
            block = await source.read(BLOCK)
        except OSError:
            return  # a terminal whose last user has gone ends with EIO
        if not block:
            return
        try:
            target.write(block)
            await target.drain()
        except (BrokenPipeError, ConnectionError, asyncssh.Error):
            return  # the client has gone


async def _pump_in(
    machine: Machine,
    process: asyncssh.SSHServerProcess[bytes],
    feeder: asyncio.StreamWriter,
    program: NodeProcess,
    terminal: int | None = None,
) -> None:
    while True:
        try:
            block = await process.stdin.read(BLOCK)
        except asyncssh.TerminalSizeChanged as change:
            if terminal is not None:
                _resize(terminal, change.term_size)
            continue
        except asyncssh.SignalReceived as received:
            number = getattr(signal, f"SIG{received.signal}", None)
            if number is not None and machine.init is not None:
                machine.init.signal(program.pid, int(number), group=True)
            continue
        except (asyncssh.Error, OSError):
            block = b""
        if not block:
            break
        try:
            feeder.write(block)
            await feeder.drain()
        except (BrokenPipeError, ConnectionResetError):
            return  # the program does not want its input
    if terminal is not None:
        feeder.write(b"\x04")
    else:
        feeder.close()


def _resize(terminal: int, size: tuple[int, int, int, int]) -> None:
    columns, rows, width, height = size
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows or 24, columns or 80, width, height))
