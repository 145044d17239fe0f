"""Which host keys are trusted: a known_hosts file of our own, and what is asked when a key is not in it.

A host has one entry per key type. An unknown machine is a question to a person; a machine that shows another key than
before is an alarm, and no answer to a question can turn it into trust: only `TrustStore.replace_trust` does.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh
from filelock import FileLock, Timeout

from stellwerk.model.errors import BadInput, Busy, HostKeyChanged
from stellwerk.model.text import say
from stellwerk.remote.private_file import read_private, write_private
from stellwerk.remote.target import DEFAULT_PORT

_LOCK_S = 10.0
# Tried in this order on a machine that was never seen.
HOST_KEY_ALGORITHMS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)


class Trust(enum.Enum):
    """What the store says about a key that a machine shows."""

    TRUSTED = "trusted"
    UNKNOWN = "unknown"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public host key and the two ways in which people meet it."""

    kind: str  # ssh-ed25519
    line: str  # "ssh-ed25519 AAAA…"
    fingerprint: str  # SHA256:…

    @classmethod
    def of(cls, key: asyncssh.SSHKey) -> HostKey:
        """Describe an asyncssh key."""
        words = key.export_public_key("openssh").decode("ascii").split()
        return cls(words[0], f"{words[0]} {words[1]}", key.get_fingerprint("sha256"))


@dataclass(frozen=True, slots=True)
class HostKeyQuestion:
    """A machine that was never seen: a person compares the fingerprint with what the machine itself shows."""

    node: str
    host: str
    port: int
    key: HostKey

    @property
    def command(self) -> str:
        """What to type on the machine itself to see the same fingerprint."""
        return show_fingerprint_command(self.key.kind)


@dataclass(frozen=True, slots=True)
class HostKeyAlarm:
    """A machine that shows another key than the trusted ones."""

    node: str
    host: str
    port: int
    shown: HostKey
    trusted: tuple[HostKey, ...]

    @property
    def command(self) -> str:
        """What to type on the machine itself to see the fingerprint that it shows now."""
        return show_fingerprint_command(self.shown.kind)


class HostKeyAlarmError(HostKeyChanged):
    """`HostKeyChanged` with the alarm's data, for those who show it."""

    def __init__(self, alarm: HostKeyAlarm) -> None:
        known = ", ".join(f"{key.fingerprint} ({key.kind})" for key in alarm.trusted)
        super().__init__(
            f"the machine at {place(alarm.host, alarm.port)} shows another host key than before",
            node=alarm.node,
            why=(
                f"Trusted: {known}. Shown now: {alarm.shown.fingerprint} ({alarm.shown.kind}). "
                "Either it was reinstalled, or another machine answers at its address"
            ),
            remedy=(
                f"Run `{alarm.command}` on the machine itself. Only if it prints {alarm.shown.fingerprint}, "
                "replace the trusted key; otherwise do not connect"
            ),
        )
        self.alarm = alarm


def show_fingerprint_command(kind: str) -> str:
    """The command for a machine's own console. Sparks and other Ubuntu systems keep their keys in /etc/ssh."""
    family = "ecdsa" if kind.startswith("ecdsa") else "rsa" if "rsa" in kind else "ed25519"
    return f"ssh-keygen -lf /etc/ssh/ssh_host_{family}_key.pub"


def place(host: str, port: int) -> str:
    """How known_hosts writes a host and its port."""
    return host.lower() if port == DEFAULT_PORT else f"[{host.lower()}]:{port}"


class TrustStore:
    """A known_hosts file (mode 0600). Lines that this program does not understand are kept as they are."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keys(self, host: str, port: int) -> tuple[asyncssh.SSHKey, ...]:
        """The trusted keys of one machine. Raises `BadInput` for a damaged file."""
        wanted = place(host, port)
        return tuple(key for names, key in self._entries() if wanted in names)

    def judge(self, host: str, port: int, key: asyncssh.SSHKey) -> Trust:
        """Is `key` trusted, new on a machine never seen, or another than the trusted ones?

        A key of another type than the trusted ones is CHANGED too: an attacker can choose the type.
        """
        trusted = self.keys(host, port)
        if key in trusted:
            return Trust.TRUSTED
        return Trust.CHANGED if trusted else Trust.UNKNOWN

    def alarm(self, node: str, host: str, port: int, shown: asyncssh.SSHKey) -> HostKeyAlarm:
        """The alarm for a key that `judge` called CHANGED."""
        trusted = tuple(HostKey.of(key) for key in self.keys(host, port))
        return HostKeyAlarm(node, host, port, HostKey.of(shown), trusted)

    def accept(self, question: HostKeyQuestion) -> None:
        """Trust the key after a person said yes. Raises `HostKeyAlarmError` if another key became trusted meanwhile."""
        with self._lock():
            shown = asyncssh.import_public_key(question.key.line)
            if self.judge(question.host, question.port, shown) is Trust.CHANGED:
                raise HostKeyAlarmError(self.alarm(question.node, question.host, question.port, shown))
            self._add(question.host, question.port, [shown])

    def learn(self, host: str, port: int, keys: Iterable[asyncssh.SSHKey]) -> None:
        """Add further keys that an already trusted machine proved to own."""
        with self._lock():
            if self.keys(host, port):
                self._add(host, port, keys)

    def replace_trust(self, alarm: HostKeyAlarm) -> None:
        """Trust the shown key instead of the old ones. Only for a person who compared the fingerprints."""
        with self._lock():
            kept = self._without(alarm.host, alarm.port)
            kept.append(f"{place(alarm.host, alarm.port)} {alarm.shown.line}")
            self._write(kept)

    def forget(self, host: str, port: int) -> bool:
        """Remove every key of one machine; tells whether there was one."""
        with self._lock():
            before = self._lines()
            after = self._without(host, port)
            if before == after:
                return False
            self._write(after)
            return True

    def _add(self, host: str, port: int, keys: Iterable[asyncssh.SSHKey]) -> None:
        lines = self._lines()
        known = self.keys(host, port)
        new = [f"{place(host, port)} {HostKey.of(key).line}" for key in keys if key not in known]
        if new:
            self._write([*lines, *new])

    def _without(self, host: str, port: int) -> list[str]:
        wanted = place(host, port)
        lines: list[str] = []
        for line in self._lines():
            names, _, rest = line.partition(" ")
            others = [name for name in names.split(",") if name != wanted]
            if others == names.split(","):
                lines.append(line)
            elif others:
                lines.append(f"{','.join(others)} {rest}")
        return lines

    def _entries(self) -> list[tuple[list[str], asyncssh.SSHKey]]:
        entries: list[tuple[list[str], asyncssh.SSHKey]] = []
        for line in self._lines():
            names, _, data = line.strip().partition(" ")
            if not data or names.startswith(("#", "@", "|")):
                continue
            try:
                entries.append((names.lower().split(","), asyncssh.import_public_key(data)))
            except asyncssh.KeyImportError:
                continue  # a type of key that this program does not know: kept in the file, trusted for nothing
        return entries

    def _lines(self) -> list[str]:
        data = read_private(self._path)
        if data is None:
            return []
        try:
            return data.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise BadInput(
                say("{path} is damaged: it is not text", path=self._path),
                why="It holds the trusted host keys; without it a changed machine would not be noticed",
                remedy="Restore it from a backup, or move it away and compare every machine's fingerprint again",
            ) from None

    def _write(self, lines: list[str]) -> None:
        write_private(self._path, "".join(f"{line}\n" for line in lines).encode("utf-8"))

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Held from reading to writing, so that two windows do not lose each other's entries."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(f"{self._path}.lock", timeout=_LOCK_S, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            raise Busy(
                say("{path} is in use by another window", path=self._path),
                why=say("It was not released within {lock_s} s", lock_s=f"{_LOCK_S:g}"),
                remedy="Close the other window and try again",
            ) from None
        try:
            yield
        finally:
            lock.release()
