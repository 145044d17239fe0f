"""Compiles the native library. Standard library only: the package build runs this before anything is installed.

`python compile.py OUTPUT.so [COMPILER ...]` builds it by hand, e.g. for another machine:
`python compile.py out.so python -m ziglang cc -target aarch64-linux-gnu.2.31`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = ("run.c", "reduce.c", "tcp.c", "shm.c", "verbs_setup.c", "verbs.c")
VERBS_HEADERS = Path("/usr/include/infiniband")
LIBRARY = "libstellwerk.so"
# Contracting a * b + c would make results depend on the machine; symbols are hidden unless marked as API.
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden")
LINK = ("-shared", "-s", "-lm", "-ldl")


def source_digest() -> str:
    """Names the state of the sources; the library carries it, so that a stale build is noticed."""
    names = sorted(path.name for path in HERE.iterdir() if path.suffix in (".c", ".h"))
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in names)).hexdigest()[:16]


class NoCompiler(Exception):
    """There is no C compiler on this machine."""


def compiler() -> list[str]:
    """The C compiler to use: CC, what Python was built with, cc, gcc or clang. NoCompiler if there is none."""
    for words in (os.environ.get("CC", ""), sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"):
        command = words.split()
        if command and shutil.which(command[0]):
            return command
    raise NoCompiler("no C compiler was found (looked for $CC, cc, gcc, clang)")


def compile_library(output: Path, command: Sequence[str] | None = None, extra: Sequence[str] = ()) -> None:
    """Compile all sources into the shared library `output`, replaced atomically.

    NoCompiler if there is no compiler, RuntimeError with the compiler's words if it fails.
    """
    words = [*(command or compiler()), *FLAGS, f'-DSW_SOURCES="{source_digest()}"', *extra]
    partial = output.with_name(f".{output.name}.{os.getpid()}")
    words += [*(str(HERE / source) for source in SOURCES), "-o", str(partial), *LINK]
    output.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed:\n{done.stderr.strip()[-2000:]}")
    partial.replace(output)


def cross_compile(output: Path, command: Sequence[str]) -> None:
    """Compile for another machine. The headers of libibverbs are the same everywhere, but a cross compiler does not
    look into this machine's folder, and must not see the others that lie there."""
    with tempfile.TemporaryDirectory() as folder:
        if VERBS_HEADERS.is_dir():
            Path(folder, VERBS_HEADERS.name).symlink_to(VERBS_HEADERS)
        compile_library(output, command, [f"-I{folder}"])


if __name__ == "__main__":
    if len(sys.argv) > 2:
        cross_compile(Path(sys.argv[1]), sys.argv[2:])
    else:
        compile_library(Path(sys.argv[1]))
