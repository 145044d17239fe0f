"""The SSH server of one simulated node: logins as on a stock machine, SFTP jailed to the home."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncssh

from stellwerk.virtual import hardware
from stellwerk.virtual.machine import Machine
from stellwerk.virtual.session import run_session
from stellwerk.virtual.silence import Silence

LOGIN_TIMEOUT_S = 60
Translate = Callable[[str, int], tuple[str, int]]


class Jail(asyncssh.SFTPServer):
    """SFTP below the home. Relative paths start there; absolute ones are the real ones, so that programs agree."""

    def __init__(self, channel: asyncssh.SSHServerChannel[Any], machine: Machine) -> None:
        super().__init__(channel)
        self._machine = machine
        self._home = os.fsencode(machine.home)

    def map_path(self, path: bytes) -> bytes:
        """The real path. Raises SFTPPermissionDenied outside the home."""
        full = os.path.normpath(os.path.join(self._home, path))  # noqa: PTH118  (bytes)
        if full == os.path.dirname(self._home):  # noqa: PTH120
            full = self._home  # a listing asks for `..` too; there is nothing above the home
        parent = os.path.realpath(os.path.dirname(full)) if full != self._home else full  # noqa: PTH120
        if not _within(parent, self._home):
            raise asyncssh.SFTPPermissionDenied(f"{os.fsdecode(path)} is outside the home directory")
        return full

    def _followed(self, path: bytes) -> bytes:
        """As `map_path`, for what follows a symbolic link."""
        full = self.map_path(path)
        if not _within(os.path.realpath(full), self._home):
            raise asyncssh.SFTPPermissionDenied(f"{os.fsdecode(path)} leads out of the home directory")
        return path

    def _need_space(self) -> None:
        if self._machine.disk_full:
            raise asyncssh.SFTPNoSpaceOnFilesystem("No space left on device")

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        self._followed(path)
        if pflags & asyncssh.FXF_CREAT and not os.path.exists(self.map_path(path)):  # noqa: PTH110  (bytes)
            self._need_space()
        return super().open(path, pflags, attrs)

    def write(self, file_obj: object, offset: int, data: bytes) -> Any:
        self._need_space()
        return super().write(file_obj, offset, data)

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        self._need_space()
        return super().mkdir(path, attrs)

    def stat(self, path: bytes) -> Any:
        return super().stat(self._followed(path))

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().setstat(self._followed(path), attrs)

    def scandir(self, path: bytes) -> Any:
        return super().scandir(self._followed(path))


def _within(path: bytes, home: bytes) -> bool:
    return path == home or path.startswith(home + b"/")


class Login(asyncssh.SSHServer):
    """One connection."""

    def __init__(self, server: NodeSshServer) -> None:
        self._server = server
        self._machine = server.machine
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        refused = asyncio.get_running_loop().time() < self._machine.refuse_ssh_until
        if refused or not self._machine.reachable:
            conn.abort()
            return
        self._server.connections.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._connection is not None:
            self._server.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        keys = self._machine.home / ".ssh" / "authorized_keys"
        if self._connection is not None and keys.is_file() and self._strict_modes():
            try:
                self._connection.set_authorized_keys(str(keys))
            except (ValueError, OSError) as error:
                self._machine.note(f"authorized_keys refused: {error}")
        return True

    def _strict_modes(self) -> bool:
        """OpenSSH refuses keys when somebody else could have written them."""
        home = self._machine.home
        for path in (home, home / ".ssh", home / ".ssh" / "authorized_keys"):
            if stat.S_IMODE(path.stat().st_mode) & 0o022:
                self._machine.note(f"Authentication refused: bad ownership or modes for {path}")
                return False
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        right = username == hardware.USER and password == self._machine.password
        if not right:
            self._machine.note("login: wrong password")
        return right

    def kbdint_auth_supported(self) -> bool:
        return True

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
        return "", "", "", [("Password: ", False)]

    def validate_kbdint_response(self, username: str, responses: Sequence[str]) -> bool:
        return len(responses) == 1 and self.validate_password(username, responses[0])

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> Any:
        """Tunnels and jumps: an address of the simulated networks leads to where its node really listens."""
        host, port = self._server.translate(dest_host, dest_port)
        assert self._connection is not None
        return self._connection.forward_connection(host, port)

    def unix_connection_requested(self, dest_path: str) -> bool:
        return _within(os.fsencode(os.path.realpath(dest_path)), os.fsencode(self._machine.home))


class NodeSshServer:
    """Listens while the node has power; without power its address is silent."""

    def __init__(self, machine: Machine, translate: Translate) -> None:
        self.machine = machine
        self.translate = translate
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._silence: Silence | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; port 0 takes a free one. Returns the port."""
        self.free()
        self._acceptor = await asyncssh.listen(
            host,
            port,
            server_host_keys=[asyncssh.import_private_key(self.machine.host_key_private)],
            server_factory=lambda: Login(self),
            process_factory=self._process,
            sftp_factory=lambda channel: Jail(channel, self.machine),
            encoding=None,
            line_editor=False,
            allow_scp=False,
            agent_forwarding=False,
            gss_host=None,
            login_timeout=LOGIN_TIMEOUT_S,
            server_version="OpenSSH_9.6p1 Ubuntu-3ubuntu13.14 (simulated)",
        )
        return self._acceptor.get_port()

    def _process(self, process: asyncssh.SSHServerProcess[bytes]) -> Awaitable[None]:
        return run_session(self.machine, process)

    def cut(self) -> int:
        """Drop every connection without a word. Returns how many there were."""
        connections = list(self.connections)
        for connection in connections:
            connection.abort()
        return len(connections)

    def fall_silent(self) -> None:
        """The power is gone: drop everybody; who knocks gets no answer until `start` or `free`."""
        if self._acceptor is not None and self._silence is None:
            host, port = self._acceptor.get_addresses()[0][:2]
            self._acceptor.close()
            self._silence = Silence(host, port)
        self.cut()

    async def stop(self) -> None:
        """Fall silent, and wait until the last connection has ended."""
        self.fall_silent()
        acceptor, self._acceptor = self._acceptor, None
        if acceptor is not None:
            await acceptor.wait_closed()
            async with asyncio.timeout(5):
                for connection in list(self.connections):
                    await connection.wait_closed()

    def free(self) -> None:
        """Give the silent port back."""
        silence, self._silence = self._silence, None
        if silence is not None:
            silence.end()


def new_host_key() -> tuple[bytes, str]:
    """A fresh ed25519 host key: the private part in OpenSSH form, the public line."""
    key = asyncssh.generate_private_key("ssh-ed25519", comment="root@spark")
    return key.export_private_key(), key.export_public_key().decode()


def fingerprint(public_line: str) -> str:
    """As `ssh-keygen -lf` prints it: SHA256:…"""
    return asyncssh.import_public_key(public_line).get_fingerprint()
