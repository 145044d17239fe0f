"""Small things done on a node before the agent runs there; sent as text to `python3 -I -`, standard library only.

Every verb takes and gives plain JSON. The file as a whole must run on Python 3.10; an older one is found out before it
compiles this text (see `node_python`).
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHARE = ".local/share/stellwerk"
STATE = ".local/state/stellwerk"
_END_S = 5.0


def _home() -> Path:
    return Path("~").expanduser()  # HOME first, then the user database


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None


def look(agent_name: str, agent_sha256: str) -> dict[str, Any]:
    """Python's version, the permissions that SSH cares about, and whether this agent is already there."""
    agent = _content(_home() / SHARE / agent_name) if agent_name else None
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "home": str(_home()),
        "home_mode": _mode(_home()),
        "has_agent": agent is not None and hashlib.sha256(agent).hexdigest() == agent_sha256,
    }


def add_key(line: str, marker: str) -> dict[str, Any]:
    """Put `line` at the head of authorized_keys unless its key is in there.

    At the head, so that taking the line out again leaves every other byte as it was, also where the file did not end
    with a newline. What was created for it is noted in the line's comment, for `remove_key`.
    """
    folder = _home() / ".ssh"
    created = ""
    if not folder.is_dir():
        folder.mkdir(mode=0o700)
        created = "dir"
    path = (folder / "authorized_keys").resolve()
    before = _content(path)
    if before is None:
        created = created or "file"
    fixed = [str(place) for place, right in ((folder, 0o700), (path, 0o600)) if _close_to_others(place, right)]
    answer = {"added": False, "created": "", "fixed": fixed, "home_mode": _mode(_home())}
    blob = line.split()[1].encode()
    if any(blob in entry.split() for entry in (before or b"").splitlines()):
        return answer
    comment = f"{marker} created-{created}" if created else marker
    _replace(path, f"{line} {comment}\n".encode() + (before or b""), 0o600)
    return {**answer, "added": True, "created": created}


def _close_to_others(path: Path, right: int) -> bool:
    """Take away what makes sshd ignore the file: others may write to it."""
    mode = _mode(path)
    if mode is None or not mode & 0o022:
        return False
    path.chmod(right)
    return True


def remove_key(blob: str, marker: str) -> dict[str, Any]:
    """Take every line with this key out of authorized_keys; the rest stays byte-identical.

    A file or folder that `add_key` had created goes too when nothing else is in it.
    """
    folder = _home() / ".ssh"
    path = (folder / "authorized_keys").resolve()
    lines = (_content(path) or b"").splitlines(keepends=True)
    ours = [entry for entry in lines if blob.encode() in entry.split()]
    if not ours:
        return {"removed": 0, "deleted": []}
    rest = b"".join(entry for entry in lines if blob.encode() not in entry.split())
    notes = {word for entry in ours for word in entry.split() if marker.encode() in entry.split()}
    deleted = []
    if rest or not notes & {b"created-file", b"created-dir"}:
        _replace(path, rest, _mode(path) or 0o600)
    else:
        path.unlink()
        deleted.append(str(path))
        if b"created-dir" in notes and not any(folder.iterdir()):
            folder.rmdir()
            deleted.append(str(folder))
    return {"removed": len(ours), "deleted": deleted}


def _replace(path: Path, data: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(prefix=".stellwerk-", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None  # a failed write does not know its file


def receive_agent(name: str, sha256: str, data: str) -> dict[str, Any]:
    """Store the agent where SFTP cannot: `data` is base64."""
    content = base64.b64decode(data)
    if hashlib.sha256(content).hexdigest() != sha256:
        raise OSError(errno.EIO, "the agent arrived damaged", name)
    folder = _home() / SHARE
    folder.mkdir(0o700, parents=True, exist_ok=True)
    _replace(folder / name, content, 0o600)
    return {}


def try_store(size: int) -> dict[str, Any]:
    """Find out why a file of `size` bytes cannot be stored: SFTP only says "failure", here the error is the answer."""
    folder = _home() / SHARE
    folder.mkdir(0o700, parents=True, exist_ok=True)
    probe = folder / ".space"
    try:
        _replace(probe, b"\0" * size, 0o600)
    finally:
        probe.unlink(missing_ok=True)
    return {}


def remove_files(pid: int) -> dict[str, Any]:
    """End the agent `pid` if it still runs, then remove its files and its state."""
    _end_agent(pid)
    removed = []
    for relative in (SHARE, STATE):
        path = _home() / relative
        if path.is_dir():
            shutil.rmtree(path)
            removed.append(str(path))
        for parent in (path.parent, path.parent.parent):
            with contextlib.suppress(OSError):  # not empty, so not only ours
                parent.rmdir()
    return {"removed": removed}


def _end_agent(pid: int) -> None:
    process = Path(f"/proc/{pid}")
    for number in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + _END_S
        # The command line is looked at each time: the number may belong to another process by now.
        while b"/agent-" in (_content(process / "cmdline") or b""):
            if time.monotonic() > until:
                break
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            time.sleep(0.05)


VERBS: dict[str, Callable[..., dict[str, Any]]] = {
    verb.__name__: verb for verb in (look, add_key, remove_key, receive_agent, try_store, remove_files)
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run one verb; an OSError becomes an answer with its name, path and text."""
    os.umask(0o077)
    try:
        return {"stellwerk": "done", **VERBS[request["verb"]](**request["arguments"])}
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "")
        path = str(error.filename or _home())
        return {"stellwerk": "failed", "errno": name, "path": path, "text": error.strerror or str(error)}


def main(text: str) -> None:
    """Entry point on the node; the answer is a line of its own, to be told apart from what a login shell prints."""
    sys.stdout.write("\n" + json.dumps(answer(json.loads(text))) + "\n")
