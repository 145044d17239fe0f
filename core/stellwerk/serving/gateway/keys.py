"""API keys: made once, shown once, stored as scrypt hashes, recognised by a fast keyed hash afterwards.

A key reads `sw-<id>-<secret>`. The file holds id, name and hash. The first request with a key pays for the slow
hash in a thread; from then on a BLAKE2 under a random key of this process recognises it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from stellwerk.serving.gateway.secret_file import why_open

_FORM = re.compile(r"sw-([0-9a-f]{8})-([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[\w.@ -]{1,64}")
_SCRYPT = {"n": 2**14, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024, "dklen": 32}
_FAILURES = 5  # wrong secrets for one id within a minute; more are refused without hashing
_MOST_REMEMBERED = 4096


class KeysError(ValueError):
    """The key file cannot be used, or a name is not acceptable. The text is for people."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One entry of the file. Times are ISO 8601, UTC. `admin`: may reload and roll back."""

    id: str
    name: str
    salt: str
    hash: str
    created: str
    revoked: str | None = None
    admin: bool = False


def _hash(secret: str, salt: str) -> str:
    return hashlib.scrypt(secret.encode(), salt=bytes.fromhex(salt), **_SCRYPT).hex()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def load_keys(path: Path) -> list[ApiKey]:
    """All keys of a file, revoked ones too; none if there is no file. Raises KeysError."""
    try:
        problem = why_open(path)
        if problem is not None:
            raise KeysError(f"The key file {problem}")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise KeysError(f"The key file {path} cannot be read: {error.strerror}.") from error
    try:
        return [ApiKey(**entry) for entry in json.loads(text)["keys"]]
    except (ValueError, TypeError, KeyError) as error:
        raise KeysError(f"The key file {path} is damaged. Restore it, or delete it and make new keys.") from error


def save_keys(path: Path, keys: Iterable[ApiKey]) -> None:
    """Replace the file in one step, readable by its owner alone. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"version": 1, "keys": [asdict(key) for key in keys]}, indent=1) + "\n"
    draft = path.with_name(path.name + f".{secrets.token_hex(4)}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Who changes the file has its folder to himself: two at once would each write without the other's key."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def create_key(path: Path, name: str, *, admin: bool = False) -> str:
    """Make a key and return its text, which is kept nowhere. Raises KeysError, OSError."""
    if not _NAME.fullmatch(name) or name != name.strip():
        raise KeysError("A key's name has 1 to 64 letters, digits, spaces within or . _ @ -")
    with _one_at_a_time(path):
        keys = load_keys(path)
        if any(key.name == name and key.revoked is None for key in keys):
            raise KeysError(f"There is a key named {name} already. Revoke it first, or choose another name.")
        identifier, secret, salt = secrets.token_hex(4), secrets.token_urlsafe(32), secrets.token_hex(16)
        save_keys(path, [*keys, ApiKey(identifier, name, salt, _hash(secret, salt), _now(), None, admin)])
    return f"sw-{identifier}-{secret}"


def revoke_key(path: Path, name_or_id: str) -> ApiKey:
    """Mark a key as revoked; running gateways notice within seconds. Raises KeysError, OSError."""
    with _one_at_a_time(path):
        keys = load_keys(path)
        for index, key in enumerate(keys):
            if key.revoked is None and name_or_id in (key.name, key.id):
                keys[index] = replace(key, revoked=_now())
                save_keys(path, keys)
                return keys[index]
    raise KeysError(f"There is no valid key with the name or id {name_or_id}.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a key belongs to."""

    name: str
    admin: bool


class KeyRing:
    """The keys of a file as a running gateway needs them. `epoch` changes with every reload."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._pepper = secrets.token_bytes(32)
        self._by_id: dict[str, ApiKey] = {}
        self._known: dict[bytes, Caller | None] = {}  # keyed hash -> owner; None: proven wrong
        self._failures: dict[str, list[float]] = {}
        self._stamp: tuple[int, ...] | None = None
        self._one_at_a_time = asyncio.Semaphore(1)  # a hash takes 16 MB and tens of milliseconds
        self.epoch = object()
        self.reload()

    def _current_stamp(self) -> tuple[int, ...] | None:
        try:
            status = self._path.stat() if self._path is not None else None
        except OSError:
            return None
        if status is None:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode, status.st_uid)

    def reload_if_changed(self) -> bool:
        """True when the file was read anew. Raises KeysError when it is damaged; the old keys then stay."""
        if self._current_stamp() == self._stamp:
            return False
        self.reload()
        return True

    def reload(self) -> None:
        """Read the file. Raises KeysError."""
        self._stamp = self._current_stamp()
        keys = load_keys(self._path) if self._path is not None else []
        self._by_id = {key.id: key for key in keys if key.revoked is None}
        self._known.clear()
        self.epoch = object()

    @property
    def empty(self) -> bool:
        return not self._by_id

    def _mark(self, text: bytes) -> bytes:
        return hashlib.blake2b(text, key=self._pepper, digest_size=32).digest()

    def recognise(self, text: bytes) -> Caller | bool | None:
        """The owner of a key that has been seen; None for a wrong one; True when `verify` must be asked first."""
        mark = self._mark(text)
        if mark in self._known:
            return self._known[mark]
        found = _FORM.fullmatch(text.decode("latin-1"))
        if found is None or found[1] not in self._by_id or self._blocked(found[1]):
            return None
        return True

    def _blocked(self, identifier: str) -> bool:
        now_s = monotonic()
        recent = [then_s for then_s in self._failures.get(identifier, ()) if now_s - then_s < 60]
        self._failures[identifier] = recent
        return len(recent) >= _FAILURES

    async def verify(self, text: bytes) -> Caller | None:
        """The slow check of a key that is seen for the first time."""
        async with self._one_at_a_time:
            known = self.recognise(text)
            if not isinstance(known, bool):
                return known
            found = _FORM.fullmatch(text.decode("latin-1"))
            assert found is not None
            key = self._by_id[found[1]]
            digest = await asyncio.to_thread(_hash, found[2], key.salt)
            caller = None
            if not hmac.compare_digest(digest, key.hash):
                self._failures.setdefault(key.id, []).append(monotonic())
            elif self._by_id.get(key.id) == key:  # it may have been revoked meanwhile
                caller = Caller(key.name, key.admin)
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[self._mark(text)] = caller
            return caller
