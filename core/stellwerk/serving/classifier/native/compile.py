"""Compiles the scan loop. Standard library only: the package build runs this before anything is installed.

`python compile.py OUTPUT.so [COMPILER ...]` builds it by hand, e.g. for another machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("scan.c", "rows.c")
LIBRARY = "libdifficulty.so"
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden")


class NoCompiler(Exception):
    """There is no C compiler on this machine."""


def source_digest() -> str:
    """Names the state of the sources, so that a library of an older state is not used."""
    return f"{zlib.crc32(b''.join((HERE / name).read_bytes() for name in SOURCES)):08x}"


def compile_library(output: Path, command: Sequence[str] | None = None) -> None:
    """Compile into the shared library `output`, replaced atomically. NoCompiler, or RuntimeError with the reason."""
    words = list(command or _compiler())
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    output.parent.mkdir(parents=True, exist_ok=True)
    digest = f'-DSW_SOURCES="{source_digest()}"'
    sources = [str(HERE / source) for source in SOURCES]
    done = subprocess.run(
        [*words, *FLAGS, digest, *sources, "-o", str(partial), "-shared"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed:\n{done.stderr.strip()[-2000:]}")
    partial.replace(output)


def _compiler() -> list[str]:
    for words in (os.environ.get("CC", ""), sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"):
        command = words.split()
        if command and shutil.which(command[0]):
            return command
    raise NoCompiler("no C compiler was found (looked for $CC, cc, gcc, clang)")


if __name__ == "__main__":
    compile_library(Path(sys.argv[1]), sys.argv[2:] or None)
