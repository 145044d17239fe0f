"""A command of a simulated node (`ip`, `sudo`, `netplan` …): asks the cluster, prints what it answers.

Reached under many names. The conversation is JSON lines over the node's Unix socket:

    -> {"name", "argv", "cwd", "env", "pid"}
    <- {"out": text} | {"err": text}
    <- {"ask": "askpass" | "stdin" | "tty", "program", "prompt"}      -> {"line": text or null, "error": text}
    <- {"exec": argv, "env": environment, "mark": number}             becomes that program
    <- {"connect": [host, port]}                                      becomes a TCP connection
    <- {"exit": code}
"""

# pathlib would double the start time of every command.
# ruff: noqa: PTH100, PTH109, PTH118, PTH119, PTH120
from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

PASSED_ON = ("HOME", "USER", "PATH", "LANG", "LC_ALL", "TERM", "SUDO_ASKPASS", "SSH_AUTH_SOCK")


def read_line(fd: int) -> str | None:
    """One line without its end; None when there is none. Byte by byte: what follows belongs to somebody else."""
    line = b""
    while True:
        byte = os.read(fd, 1)
        if byte in (b"", b"\n"):
            return line.decode("utf-8", "surrogateescape") if line or byte else None
        line += byte


def from_askpass(program: str, prompt: str) -> str | None:
    """What the askpass program prints; None when it refuses."""
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_CLOSE, reader)]
    pid = os.posix_spawn(program, [program, prompt], os.environ, file_actions=actions)
    os.close(writer)
    line = read_line(reader)
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    return line if status == 0 else None


def from_tty(prompt: str) -> str | None:
    """A line typed at the terminal, not shown."""
    import termios

    fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    try:
        shown = termios.tcgetattr(fd)
        hidden = [*shown]
        hidden[3] = hidden[3] & ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSAFLUSH, hidden)
        try:
            os.write(fd, prompt.encode())
            line = read_line(fd)
            os.write(fd, b"\n")
            return line
        finally:
            termios.tcsetattr(fd, termios.TCSAFLUSH, shown)
    finally:
        os.close(fd)


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """Get the line that the cluster asks for."""
    try:
        if message["ask"] == "askpass":
            return {"line": from_askpass(message["program"], message["prompt"])}
        if message["ask"] == "tty":
            return {"line": from_tty(message["prompt"])}
        return {"line": read_line(0)}
    except OSError as error:
        return {"line": None, "error": error.strerror}


def become(message: dict[str, Any]) -> None:
    """Replace this process by the program that was asked for."""
    if message.get("mark"):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (message["mark"], hard))
    try:
        os.execve(message["exec"][0], message["argv"], message["env"])
    except OSError as error:
        put(2, f"{message['exec'][0]}: {error.strerror}\n")
        sys.exit(127)


def relay(host: str, port: int) -> int:
    """Carry bytes between stdin and stdout and a TCP connection until both ways have ended."""
    import select

    try:
        remote = socket.create_connection((host, port))
    except OSError as error:
        put(2, f"connect to {host} port {port}: {error.strerror}\n")
        return 1
    sources = [0, remote.fileno()]
    while remote.fileno() in sources:
        for fd in select.select(sources, [], [])[0]:
            data = os.read(fd, 65536)
            if not data:
                sources.remove(fd)
                if fd == 0:
                    remote.shutdown(socket.SHUT_WR)
            elif fd == 0:
                remote.sendall(data)
            else:
                put_bytes(1, data)
    return 0


def put(fd: int, text: str) -> None:
    """Write all of it."""
    put_bytes(fd, text.encode("utf-8", "surrogateescape"))


def put_bytes(fd: int, data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(fd, data) :]


def main() -> int:
    node_dir = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
    name = os.path.basename(sys.argv[0])
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(os.path.join(node_dir, "shim.sock"))
    except OSError as error:
        put(2, f"{name}: the simulated machine does not answer: {error.strerror}\n")
        return 125
    request = {
        "name": name,
        "argv": sys.argv[1:],
        "cwd": os.getcwd(),
        "env": {key: os.environ[key] for key in PASSED_ON if key in os.environ},
        "pid": os.getpid(),
    }
    stream = connection.makefile("rwb")
    stream.write(json.dumps(request).encode() + b"\n")
    stream.flush()
    for line in stream:
        message = json.loads(line)
        if "out" in message:
            put(1, message["out"])
        elif "err" in message:
            put(2, message["err"])
        elif "ask" in message:
            stream.write(json.dumps(answer(message)).encode() + b"\n")
            stream.flush()
        elif "exec" in message:
            become(message)
        elif "connect" in message:
            return relay(*message["connect"])
        elif "exit" in message:
            return int(message["exit"])
    put(2, f"{name}: the simulated machine went away\n")
    return 125


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
