"""Files that hold secrets: who else on this computer may look into them, or change them?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS_READ = stat.S_IROTH | stat.S_IRGRP
_OTHERS_WRITE = stat.S_IWOTH | stat.S_IWGRP


def why_open(path: Path) -> str | None:
    """None for a file that is safe to use, else what is wrong with it and what to do: two sentences for people.

    A file of one's own must be for its owner alone. One of another owner (root's, handed to a service by its group) may
    be read by its group: this user could not read it otherwise. Raises OSError.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        return f"{path} is not a file. Name the file itself."
    mode = stat.S_IMODE(status.st_mode)
    allowed = 0 if status.st_uid == os.geteuid() else stat.S_IRGRP
    if mode & _OTHERS_WRITE & ~allowed:
        can = "changed"
    elif mode & _OTHERS_READ & ~allowed:
        can = "read"
    else:
        return None
    return (
        f"{path} can be {can} by other users of this computer (mode {mode:04o}). "
        f"Make it its owner's alone: chmod {'600' if not allowed else '640'} {path}"
    )
