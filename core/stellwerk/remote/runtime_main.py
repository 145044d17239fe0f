"""What a node's python3 runs first in `runtime.pyz`: it becomes `__main__` there. Standard library only.

    python3 -I runtime-<hash>.pyz stellwerk.some.module ARGUMENTS…

The archive is unpacked once, beside itself: then Python keeps its compiled modules, the C library can be loaded, and
where none fits this machine it is compiled. What nothing has started for a month makes room; the whole of
`~/.local/share/stellwerk` goes when the machine is un-paired.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import runpy
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

OLDEST_PYTHON = (3, 11)
UNUSED_S = 30 * 86_400


def unpack(archive: Path) -> Path:
    """The folder with the archive's content; made in one step, so that two ranks of one machine can start at once."""
    target = archive.with_suffix("")
    if target.is_dir():
        _mark_as_used(target)
        return target
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=archive.parent))
    try:
        with zipfile.ZipFile(archive) as source:
            source.extractall(partial)
        _compile_if_none_fits(partial)
        with contextlib.suppress(OSError):  # another process was faster: its folder holds the same
            partial.rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    if not target.is_dir():
        raise OSError(f"{target} could not be made")
    _forget_unused(target)
    return target


def _runs(name: str) -> bool:
    """Whether a process was started from this version: a gateway may have run for longer than a month."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            if f"{name}.pyz".encode() in command.read_bytes():
                return True
    return False


def _mark_as_used(folder: Path) -> None:
    with contextlib.suppress(OSError):  # a read-only home: then nothing is removed from it either
        os.utime(folder)


def _forget_unused(current: Path) -> None:
    """Remove versions that nothing has started for a month, with the archives they came from.

    Not at once: another desktop of another version may use the same machine.
    """
    for folder in current.parent.glob("runtime-*"):
        with contextlib.suppress(OSError):
            old = folder.is_dir() and folder != current and folder.stat().st_mtime < time.time() - UNUSED_S
            if old and not _runs(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
                folder.with_name(f"{folder.name}.pyz").unlink(missing_ok=True)


def _compile_if_none_fits(folder: Path) -> None:
    spec = importlib.util.spec_from_file_location("stellwerk_native", folder / "stellwerk" / "native.py")
    assert spec is not None
    assert spec.loader is not None
    native = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(native)
    library = native.COLLECTIVES
    target = library.folder / library.file_for(platform.machine())
    if target.exists():
        return
    # Without a compiler the ranks run in pure Python and say so, with the reason that they find themselves.
    with contextlib.suppress(native.NoCompiler, RuntimeError, OSError):
        library.compile(target)


def main(archive: Path, argv: list[str]) -> int:
    """Run one of the archive's modules as a program; returns only when it cannot be started."""
    if sys.version_info < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        print(f"python3 is version {platform.python_version()}; {wanted} or newer is needed", file=sys.stderr)
        return 78
    if not argv or not argv[0].startswith("stellwerk."):
        print("usage: python3 -I runtime.pyz stellwerk.MODULE ARGUMENTS…", file=sys.stderr)
        return 64
    folder = unpack(archive)
    sys.path[:] = [str(folder), *(entry for entry in sys.path if entry != str(archive))]
    sys.argv = argv
    runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(Path(sys.argv[0]).resolve(), sys.argv[1:]))
