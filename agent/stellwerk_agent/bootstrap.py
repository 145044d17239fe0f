"""Brings the agent to the place from which root runs it: root-owned, named by its content, verified there."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

# Run as `python3 -I -c INSTALL PYZ SHA256 DESTINATION`, as root. It reads the user's file once, compares these very
# bytes with the hash, and writes them where only root can write. It imports nothing but the standard library.
INSTALL = """\
import hashlib, os, pathlib, re, stat, sys
source, digest, destination = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
if not re.fullmatch("[0-9a-f]{64}", digest) or destination.parts[-3:] != ("stellwerk", digest, "agent.pyz"):
    sys.exit("not a place for the agent")
handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
with os.fdopen(handle, "rb") as stream:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        sys.exit("the agent is no regular file")
    data = stream.read((64 << 20) + 1)
if hashlib.sha256(data).hexdigest() != digest:
    sys.exit("the agent is not what it should be")
os.umask(0o022)
for directory in (destination.parent.parent, destination.parent):
    directory.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(exist_ok=True)
    info = directory.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.geteuid():
        sys.exit(f"{directory} is not root's")
    directory.chmod(0o755)
temporary = destination.with_name(".agent.pyz.new")
temporary.unlink(missing_ok=True)
handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
with os.fdopen(handle, "wb") as stream:
    stream.write(data)
    stream.flush()
    os.fsync(handle)
os.replace(temporary, destination)
if hashlib.sha256(destination.read_bytes()).hexdigest() != digest:
    sys.exit("the agent was not written whole")
"""


def installed_path(root: Path, digest: str) -> Path:
    """Where the agent with this content lies for root."""
    return root / "var/lib/stellwerk" / digest / "agent.pyz"


def is_installed(place: Path, digest: str, root: Path) -> bool:
    """Whether it lies there whole, and nobody but root could have written it."""
    owners = (0,) if root == Path("/") else (0, os.getuid())
    try:
        for path in (place.parent.parent, place.parent, place):
            info = path.lstat()
            if info.st_uid not in owners or info.st_mode & 0o022 or stat.S_ISLNK(info.st_mode):
                return False
        return hashlib.sha256(place.read_bytes()).hexdigest() == digest
    except OSError:
        return False
