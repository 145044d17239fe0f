"""A command of a simulated node (`ip`, `sudo`, `netplan` …): asks the cluster, prints what it answers.

Reached under many names, and run very often: it imports next to nothing, because starting Python is most of its cost.
A message is a list of texts: the number of bytes that follow (4 bytes, big-endian), then each text with its own length
before it. The conversation over the node's Unix socket:

    -> name, working directory, number of arguments, arguments …, NAME=VALUE …
    <- "out", text | "err", text
    <- "ask", "askpass" | "stdin" | "tty", program, prompt        -> "line", text | "none", why
    <- "exec", path, mark, number of arguments, arguments …, NAME=VALUE …      becomes that program
    <- "connect", host, port                                      becomes a TCP connection
    <- "exit", code
"""

# pathlib, json, socket and typing would each take longer to import than everything else here takes to run.
# ruff: noqa: PTH100, PTH109, PTH118, PTH119, PTH120
from __future__ import annotations

import _socket
import os
import sys

PASSED_ON = ("HOME", "USER", "PATH", "LANG", "LC_ALL", "TERM", "SUDO_ASKPASS", "SSH_AUTH_SOCK")


def pack(texts: list[str]) -> bytes:
    """A message as bytes."""
    fields = [text.encode("utf-8", "surrogateescape") for text in texts]
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return len(body).to_bytes(4, "big") + body


def unpack(body: bytes) -> list[str]:
    """The texts of a message without its leading length."""
    texts = []
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        texts.append(body[at + 4 : at + 4 + size].decode("utf-8", "surrogateescape"))
        at += 4 + size
    return texts


class Cluster:
    """The connection to the process that simulates the machine."""

    def __init__(self, path: str) -> None:
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.socket.connect(path)

    def say(self, texts: list[str]) -> None:
        """Send one message."""
        self.socket.sendall(pack(texts))

    def hear(self) -> list[str]:
        """The next message; empty when the other end has gone."""
        head = self._exactly(4)
        return unpack(self._exactly(int.from_bytes(head, "big"))) if head else []

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            block = self.socket.recv(size - len(data))
            if not block:
                return b""
            data += block
        return data


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


def answer(kind: str, program: str, prompt: str) -> list[str]:
    """Get the line that the cluster asks for."""
    try:
        if kind == "askpass":
            line = from_askpass(program, prompt)
        elif kind == "tty":
            line = from_tty(prompt)
        else:
            line = read_line(0)
    except OSError as error:
        return ["none", error.strerror or str(error)]
    return ["none", ""] if line is None else ["line", line]


def become(path: str, mark: int, words: list[str], env: dict[str, str]) -> None:
    """Replace this process by the program that was asked for."""
    if mark:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
        resource.setrlimit(resource.RLIMIT_MSGQUEUE, (mark, hard))
    try:
        os.execve(path, words, env)
    except OSError as error:
        put(2, f"{path}: {error.strerror}\n")
        sys.exit(127)


def relay(host: str, port: int) -> int:
    """Carry bytes between stdin and stdout and a TCP connection until both ways have ended."""
    import select
    import socket

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


def converse(cluster: Cluster) -> int:
    """Do what the cluster says, until it gives the exit code."""
    while message := cluster.hear():
        what, *values = message
        if what == "out":
            put(1, values[0])
        elif what == "err":
            put(2, values[0])
        elif what == "ask":
            cluster.say(answer(*values))
        elif what == "exec":
            count = int(values[2])
            env = dict(pair.split("=", 1) for pair in values[3 + count :])
            become(values[0], int(values[1]), values[3 : 3 + count], env)
        elif what == "connect":
            return relay(values[0], int(values[1]))
        elif what == "exit":
            return int(values[0])
    put(2, "the simulated machine went away\n")
    return 125


def main() -> int:
    """Ask, print, exit as the command would."""
    node_dir = os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[0])))
    name = os.path.basename(sys.argv[0])
    try:
        cluster = Cluster(os.path.join(node_dir, "shim.sock"))
    except OSError as error:
        put(2, f"{name}: the simulated machine does not answer: {error.strerror}\n")
        return 125
    words = sys.argv[1:]
    env = [f"{key}={os.environ[key]}" for key in PASSED_ON if key in os.environ]
    cluster.say([name, os.getcwd(), str(len(words)), *words, *env])
    return converse(cluster)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)
