"""`mesh.*`: machines may reach each other. One key per node, only public keys travel, host keys are pinned."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk_agent import commands, mesh_files
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.mesh_files import Peer
from stellwerk_agent.options import Options
from stellwerk_agent.probes import host
from stellwerk_agent.reading import Reader, clean
from stellwerk_agent.rpc import Call, Nothing, Registry

MAX_PEERS = 64
MAX_FILE_BYTES = 4 * 1024 * 1024
VERIFY_AT_ONCE = 8
SSH_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Install:
    peers: tuple[Peer, ...]


@dataclass(frozen=True, slots=True)
class Aliases:
    aliases: tuple[str, ...]


class Mesh:
    """The user's SSH files on this node, and our own directory beside them."""

    def __init__(self, options: Options, lock: NodeLock) -> None:
        self._options = options
        self._lock = lock
        self._one_at_a_time = asyncio.Lock()
        self._ssh = Path.home() / ".ssh"
        self._own = self._ssh / "stellwerk"

    def register(self, registry: Registry) -> None:
        registry.add("mesh.key", Nothing, self._key, deadline_s=60.0)
        registry.add("mesh.install", Install, self._install)
        registry.add("mesh.verify", Aliases, self._verify, deadline_s=120.0)
        registry.add("mesh.remove", Nothing, self._remove)

    async def _key(self, call: Call, params: Nothing) -> dict[str, Any]:
        self._lock.require(call.connection)
        async with self._one_at_a_time:
            key = self._own / "id_ed25519"
            if not key.with_suffix(".pub").exists() or not key.exists():
                await self._make_key(key)
            reader = Reader(self._options.root)
            names = [n for n in reader.names("/etc/ssh") if n.startswith("ssh_host_") and n.endswith("_key.pub")]
            found = [_host_key(reader, f"/etc/ssh/{name}") for name in names]
            return {"public_key": key.with_suffix(".pub").read_text().strip(), "host_keys": [k for k in found if k]}

    async def _make_key(self, key: Path) -> None:
        if commands.find("ssh-keygen") is None:
            raise StellwerkError(
                "no SSH key can be made on this node",
                why="the command ssh-keygen is missing",
                remedy="install the package openssh-client",
            )
        await asyncio.to_thread(self._make_directories)
        for leftover in (key, key.with_suffix(".pub")):
            leftover.unlink(missing_ok=True)
        comment = f"stellwerk@{host.hostname(Reader(self._options.root))}"
        result = await commands.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(key)])
        if not result.ok:
            raise StellwerkError("no SSH key can be made on this node", why=result.complaint())

    async def _install(self, call: Call, params: Install) -> dict[str, Any]:
        self._lock.require(call.connection)
        if len(params.peers) > MAX_PEERS or len({peer.alias for peer in params.peers}) != len(params.peers):
            raise BadInput(say("peers are at most {max_peers}, each with an alias of its own", max_peers=MAX_PEERS))
        for peer in params.peers:
            mesh_files.check_peer(peer)
        # Addresses are written as told: ssh finds its own way to them, also where others are mapped.
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._write_all, list(params.peers))

    def _write_all(self, peers: list[Peer]) -> dict[str, Any]:
        self._make_directories()
        config, keys = self._ssh / "config", self._ssh / "authorized_keys"
        own_config = _read(config)
        texts = {
            self._own / "known_hosts": mesh_files.known_hosts_text(peers).encode(),
            self._own / "config": mesh_files.config_text(peers).encode(),
            keys: mesh_files.with_keys(_read(keys), peers),
            config: mesh_files.with_include(own_config),
        }
        try:
            changed = [str(path) for path, text in texts.items() if _write_if_other(path, text)]
        except OSError as error:
            raise _cannot_write(error) from None
        shadowed = mesh_files.shadowed(own_config, (peer.alias for peer in peers))
        notes = [f"{config} has an entry of its own for {alias}; the cluster's comes first" for alias in shadowed]
        return {"changed": changed, "notes": notes + self._mode_notes()}

    def _make_directories(self) -> None:
        try:
            if not self._ssh.exists():
                self._ssh.mkdir(mode=0o700)
                self._own.mkdir(mode=0o700)
                (self._own / "made-ssh-directory").touch(mode=0o600)
            self._own.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _cannot_write(error) from None

    def _mode_notes(self) -> list[str]:
        """What makes sshd ignore authorized_keys (StrictModes). It is the user's to change."""
        notes: list[str] = []
        for path in (Path.home(), self._ssh, self._ssh / "authorized_keys"):
            if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                notes.append(
                    say("sshd ignores the keys because others may write {path}: run chmod go-w {path}", path=path)
                )
        return notes

    async def _verify(self, call: Call, params: Aliases) -> dict[str, Any]:
        for alias in params.aliases[:MAX_PEERS]:
            mesh_files.check_peer(Peer(alias, "localhost", 22, "user", _SOME_KEY, (_SOME_KEY,)))
        gate = asyncio.Semaphore(VERIFY_AT_ONCE)

        async def reach(alias: str) -> tuple[str, str | None]:
            async with gate:
                argv = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=8", alias, "true"]
                result = await commands.run(argv, timeout_s=SSH_LIMIT_S)
                return alias, None if result.ok else clean(result.complaint())

        return {"results": dict(await asyncio.gather(*(reach(alias) for alias in params.aliases[:MAX_PEERS])))}

    async def _remove(self, call: Call, params: Nothing) -> dict[str, Any]:
        self._lock.require(call.connection)
        return {"removed": await self.remove()}

    async def remove(self) -> list[str]:
        """Take everything out again; the user's files are then as they were."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._take_out)

    def _take_out(self) -> list[str]:
        removed: list[str] = []
        try:
            for path, strip in (
                (self._ssh / "config", mesh_files.without_include),
                (self._ssh / "authorized_keys", mesh_files.without_keys),
            ):
                before = _read(path)
                after = strip(before)
                if after == before:
                    continue
                if after or path.is_symlink():
                    _write_if_other(path, after)
                else:
                    path.unlink()  # nothing was in it before us, or it was not there
                removed.append(str(path))
            if self._own.exists():
                made_ssh = (self._own / "made-ssh-directory").exists()
                shutil.rmtree(self._own)
                removed.append(str(self._own))
                if made_ssh and not any(self._ssh.iterdir()):
                    self._ssh.rmdir()
                    removed.append(str(self._ssh))
        except OSError as error:
            raise _cannot_write(error) from None
        return removed


def _host_key(reader: Reader, path: str) -> str | None:
    """A public host key of this machine; None when it cannot be read or is none."""
    try:
        return mesh_files.key_words(reader.raw(path))
    except (OSError, BadInput):
        return None


# Stands in where only an alias is to be judged.
_SOME_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"


def _cannot_write(error: OSError) -> StellwerkError:
    said = error.strerror or str(error)
    return StellwerkError(
        "the SSH files of this user cannot be changed",
        why=say("{path}: {said}", path=error.filename, said=said) if error.filename else said,
        remedy="see to space and permissions in ~/.ssh; what was there before is untouched",
    )


def _read(path: Path) -> bytes:
    """The file's bytes; nothing when there is none. Raises `StellwerkError`."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _cannot_write(error) from None
    if len(data) > MAX_FILE_BYTES:
        raise BadInput(say("{path} is larger than {max_file_bytes} bytes", path=path, max_file_bytes=MAX_FILE_BYTES))
    return data


def _write_if_other(path: Path, text: bytes) -> bool:
    """Replace the file in one step, keeping its mode; a link stays a link. False when it already holds `text`."""
    target = Path(os.path.realpath(path))
    exists = target.exists()
    if exists and target.read_bytes() == text:
        return False
    mode = stat.S_IMODE(target.stat().st_mode) if exists else 0o600
    temporary = target.with_name(f".{target.name}.stellwerk-new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return True
