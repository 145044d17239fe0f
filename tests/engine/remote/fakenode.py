"""A machine for the tests: a real SSH server in this process, with a temporary home, whose faults are switches.

Programs sent to `python3 -I -` run for real, as subprocesses in that home. The agent is scripted.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

from stellwerk import wire
from stellwerk.model.errors import StellwerkError

USER = "nvidia"


class FullDisk(asyncssh.SFTPServer):
    """SFTP on a file system without space, as OpenSSH reports it: just "Failure"."""

    async def write(self, file_obj: object, offset: int, data: bytes) -> int:
        raise asyncssh.SFTPFailure("Failure")


@dataclass
class FakeNode:
    """Switches first, then what happened."""

    home: Path
    password: str | None = None
    questions: list[tuple[str, bool, str]] = field(default_factory=list)  # keyboard-interactive: text, echo, answer
    accepts_keys: bool = True
    max_attempts: int = 100
    python: str = "real"  # real | missing | old
    noise: str = ""  # what the login shell prints before a program's own output
    sftp: Any = "home"  # home | off | elsewhere | a class
    space_bytes: int | None = None  # python's writes fail beyond this, with write_errno
    write_errno: int = errno.ENOSPC
    agent_first_line: dict[str, Any] | None = None
    agent_stderr: str = ""
    methods: dict[str, Callable[[Agent, dict[str, Any]], Awaitable[Any]]] = field(default_factory=dict)
    hello: dict[str, Any] = field(default_factory=dict)
    forwards: bool = False  # as a jump host does
    host_keys: list[asyncssh.SSHKey] = field(default_factory=lambda: [asyncssh.generate_private_key("ssh-ed25519")])

    port: int = 0
    logins: list[str] = field(default_factory=list)
    password_attempts: int = 0
    commands: list[str] = field(default_factory=list)
    agents: list[Agent] = field(default_factory=list)
    connections: set[asyncssh.SSHServerConnection] = field(default_factory=set)
    cancelled: list[int] = field(default_factory=list)
    _server: asyncssh.SSHAcceptor | None = None

    async def start(self) -> None:
        """Listen; a second start takes the same port again."""
        sftp: Any = False
        if self.sftp == "home":
            sftp = lambda chan: asyncssh.SFTPServer(chan, chroot=str(self.home))  # noqa: E731
        elif self.sftp == "elsewhere":
            other = self.home.parent / "elsewhere"
            other.mkdir(exist_ok=True)
            sftp = lambda chan: asyncssh.SFTPServer(chan, chroot=str(other))  # noqa: E731
        elif self.sftp != "off":
            sftp = lambda chan: self.sftp(chan, chroot=str(self.home))  # noqa: E731
        self._server = await asyncssh.create_server(
            lambda: _Auth(self),
            "127.0.0.1",
            self.port,
            server_host_keys=self.host_keys,
            send_server_host_keys=True,
            process_factory=self._run,
            sftp_factory=sftp,
            encoding=None,
        )
        self.port = self._server.get_port()

    async def stop(self) -> None:
        """Cut every connection and listen no more."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None
        await self.drop()

    async def drop(self) -> None:
        """Cut every connection, as a pulled cable would."""
        for connection in list(self.connections):
            connection.abort()
        for connection in list(self.connections):
            await connection.wait_closed()

    def authorized_keys(self) -> bytes | None:
        path = self.home / ".ssh" / "authorized_keys"
        return path.read_bytes() if path.exists() else None

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        command = process.command or ""
        self.commands.append(command)
        if self.noise:
            process.stdout.write(self.noise.encode())
        if self.python == "missing":
            process.stderr.write(b"sh: 1: python3: not found\n")
            process.exit(127)
        elif command == "python3 -I -":
            await self._run_program(process)
        elif shlex.split(command)[-1] == "attach":
            await self._attach(process)
        else:
            process.exit(126)

    async def _run_program(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        program = await process.stdin.read()
        if self.python == "old":
            program = b"import sys; sys.version_info = (3, 8, 10)\n" + program
        if self.space_bytes is not None:
            program = _limited(self.space_bytes, self.write_errno) + program
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
        )
        out, err = await child.communicate(program)
        process.stdout.write(out)
        process.stderr.write(err)
        process.exit(child.returncode or 0)

    async def _attach(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        agent_file = self.home / shlex.split(process.command or "")[3].removeprefix("~/")
        if not agent_file.exists():
            process.stderr.write(b"python3: can't open file\n")
            process.exit(2)
            return
        if self.agent_stderr:
            process.stderr.write(self.agent_stderr.encode())
            process.exit(1)
            return
        first = self.agent_first_line or {"stellwerk": "attached", "sha256": "?", "protocol": wire.PROTOCOL}
        process.stdout.write(json.dumps(first).encode() + b"\n")
        if first["stellwerk"] != "attached":
            process.exit(75)
            return
        agent = Agent(self, process, agent_file)
        self.agents.append(agent)
        try:
            await agent.serve()
        finally:
            self.agents.remove(agent)
            process.exit(0)


class Agent:
    """The scripted agent behind one attached channel."""

    def __init__(self, node: FakeNode, process: asyncssh.SSHServerProcess[bytes], file: Path) -> None:
        self.node = node
        self.process = process
        self.file = file
        self._calls: dict[int, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        try:
            while line := await self.process.stdin.readline():
                message = json.loads(line)
                if message["method"] == "cancel":
                    self.node.cancelled.append(message["params"]["id"])
                    self._calls[message["params"]["id"]].cancel()
                else:
                    self._calls[message["id"]] = asyncio.create_task(self._answer(message))
        except (asyncssh.Error, OSError):
            return
        finally:
            for call in self._calls.values():
                call.cancel()
            await asyncio.gather(*self._calls.values(), return_exceptions=True)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.process.stdout.write(wire.encode(wire.notification(method, params)))

    def progress(self, request: dict[str, Any], data: Any) -> None:
        self.notify("progress", {"id": request["id"], "data": data})

    async def _answer(self, request: dict[str, Any]) -> None:
        try:
            if request["method"] == "hello":
                result: Any = {**self._hello(), **self.node.hello}
            else:
                result = await self.node.methods[request["method"]](self, request)
            answer = wire.result(request["id"], result)
        except StellwerkError as error:
            answer = wire.error_to_wire(request["id"], error)
        self.process.stdout.write(wire.encode(answer))

    def _hello(self) -> dict[str, Any]:
        import hashlib

        return {
            "protocol": wire.PROTOCOL,
            "agent_hash": hashlib.sha256(self.file.read_bytes()).hexdigest(),
            "agent_version": "0.1.0",
            "node_id": "node",
            "boot_id": "boot",
            "hostname": "spark-1",
            "pid": 1,
            "started_at": 1.0,
            "python": "3.12.3",
        }


class _Auth(asyncssh.SSHServer):
    def __init__(self, node: FakeNode) -> None:
        self._node = node
        self._failures = 0
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._node.connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._connection is not None
        self._node.connections.discard(self._connection)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        return self._node.forwards

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return self._node.accepts_keys

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        line = key.export_public_key("openssh").split()[1]
        good = username == USER and line in (self._node.authorized_keys() or b"")
        return self._judge(good, f"key {key.get_fingerprint()}")

    def password_auth_supported(self) -> bool:
        return self._node.password is not None

    def validate_password(self, username: str, password: str) -> bool:
        self._node.password_attempts += 1
        return self._judge(username == USER and password == self._node.password, "password")

    def kbdint_auth_supported(self) -> bool:
        return bool(self._node.questions)

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
        return "", "", "", [(text, echo) for text, echo, _ in self._node.questions]

    def validate_kbdint_response(self, username: str, responses: Any) -> bool:
        return self._judge(list(responses) == [answer for _, _, answer in self._node.questions], "prompts")

    def _judge(self, good: bool, how: str) -> bool:
        if good:
            self._node.logins.append(how)
            return True
        self._failures += 1
        if self._failures >= self._node.max_attempts and self._connection is not None:
            self._connection.disconnect(2, "Too many authentication failures", "en")
        return False


def _limited(space_bytes: int, number: int) -> bytes:
    """A prelude for programs on a node that cannot store: writing more than `space_bytes` fails."""
    return (
        "import builtins, io, os\n"
        "_real = os.fdopen\n"
        "class _Full(io.RawIOBase):\n"
        "    def __init__(self, fd): self.fd = fd\n"
        "    def writable(self): return True\n"
        "    def fileno(self): return self.fd\n"
        "    def write(self, data):\n"
        f"        if len(data) > {space_bytes}: raise OSError({number}, os.strerror({number}))\n"
        "        return os.write(self.fd, data)\n"
        "    def close(self):\n"
        "        if not self.closed: os.close(self.fd)\n"
        "        super().close()\n"
        "os.fdopen = lambda fd, mode: _Full(fd)\n"
    ).encode()
