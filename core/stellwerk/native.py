"""The two C libraries: what they consist of, how they are compiled, where a finished one is found.

Standard library only, and nothing of this package: the package build and a node that unpacks its archive run this file
by itself, before anything is installed.

`python native.py libstellwerk OUTPUT.so [COMPILER ...]` builds one by hand, e.g. for another machine:
`python native.py libstellwerk out.so python -m ziglang cc -target aarch64-linux-gnu.2.31`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")

HERE = Path(__file__).resolve().parent
VERBS_HEADERS = Path("/usr/include/infiniband")
# Contracting a * b + c would make results depend on the machine; symbols are hidden unless marked as API.
FLAGS = ("-std=c11", "-O3", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden")
LINK = ("-shared", "-s", "-lm", "-ldl")


class NoCompiler(Exception):
    """There is no C compiler on this machine."""


class NativeMissing(Exception):
    """A native library cannot be used; the text says why."""


class Library(NamedTuple):
    """A shared library and its sources."""

    name: str
    folder: Path
    sources: tuple[str, ...]

    @property
    def file(self) -> str:
        """What the package build makes for the machine it runs on."""
        return f"{self.name}.so"

    def file_for(self, machine: str) -> str:
        """What is made beforehand for a kind of machine, as `platform.machine()` names it."""
        return f"{self.name}-{machine}.so"

    def headers(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("*.h"))

    def source_digest(self) -> str:
        """Names the state of the sources; the library carries it, so that a stale build is noticed."""
        names = sorted([*self.sources, *self.headers()])
        return hashlib.sha256(b"".join((self.folder / name).read_bytes() for name in names)).hexdigest()[:16]

    def compile(self, output: Path, command: Sequence[str] | None = None, extra: Sequence[str] = ()) -> None:
        """Compile all sources into the shared library `output`, replaced atomically.

        NoCompiler if there is no compiler, RuntimeError with the compiler's words if it fails.
        """
        words = [*(command or compiler()), *FLAGS, f'-DSW_SOURCES="{self.source_digest()}"', *extra]
        partial = output.with_name(f".{output.name}.{os.getpid()}")
        words += [*(str(self.folder / source) for source in self.sources), "-o", str(partial), *LINK]
        output.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{words[0]} failed:\n{done.stderr.strip()[-2000:]}")
        partial.replace(output)

    def cross_compile(self, output: Path, command: Sequence[str]) -> None:
        """Compile for another machine. The headers of libibverbs are the same everywhere, but a cross compiler does not
        look into this machine's folder, and must not see the others that lie there."""
        with tempfile.TemporaryDirectory() as folder:
            if VERBS_HEADERS.is_dir():
                Path(folder, VERBS_HEADERS.name).symlink_to(VERBS_HEADERS)
            self.compile(output, command, [f"-I{folder}"])

    def cached(self) -> Path:
        """Where what is compiled at run time lies: one file per state of the sources and kind of machine."""
        return _cache_folder() / f"{self.source_digest()}-{platform.machine()}" / self.file

    def load(self, open_file: Callable[[Path], T]) -> T:
        """What `open_file` makes of the first library that it takes: one that the build or an archive has put beside
        the sources, else one that is compiled now. `open_file` raises NativeMissing for those that do not fit.

        NativeMissing with all reasons when there is none; STELLWERK_NATIVE=0 switches native libraries off.
        """
        if os.environ.get("STELLWERK_NATIVE") == "0":
            raise NativeMissing("switched off by STELLWERK_NATIVE=0")
        reasons = []
        for path in self._finished():
            try:
                return open_file(path)
            except NativeMissing as error:
                reasons.append(str(error))
        try:
            return open_file(self._compiled_here())
        except NativeMissing as error:
            reasons.append(str(error))
        raise NativeMissing("; ".join(reasons))

    def check_sources(self, path: Path, digest: str) -> None:
        """NativeMissing when the library at `path`, which says `digest`, was built from others than lie here."""
        if self.folder.is_dir() and digest != self.source_digest():
            raise NativeMissing(f"{path} was built from other sources")

    def _finished(self) -> Iterator[Path]:
        folder = resources.files("stellwerk").joinpath(*self.folder.relative_to(HERE).parts)
        for name in (self.file, self.file_for(platform.machine())):
            entry = folder / name
            if not entry.is_file():
                continue
            # Inside a zip application: the loader needs a file.
            yield entry if isinstance(entry, Path) else _in_cache(entry.read_bytes(), name)

    def _compiled_here(self) -> Path:
        """Compile into the cache; done once per version of the sources."""
        if not self.folder.is_dir():
            raise NativeMissing("the C sources lie in a zip application; there is no prebuilt library for this machine")
        target = self.cached()
        if not target.exists():
            try:
                self.compile(target)
            except (NoCompiler, RuntimeError, OSError) as error:
                raise NativeMissing(str(error)) from error
        return target


COLLECTIVES = Library(
    "libstellwerk",
    HERE / "collectives" / "native",
    ("run.c", "reduce.c", "tcp.c", "shm.c", "verbs_setup.c", "verbs.c"),
)
DIFFICULTY = Library("libdifficulty", HERE / "serving" / "classifier" / "native", ("scan.c", "rows.c"))
LIBRARIES = (COLLECTIVES, DIFFICULTY)


def compiler() -> list[str]:
    """The C compiler to use: CC, what Python was built with, cc, gcc or clang. NoCompiler if there is none."""
    for words in (os.environ.get("CC", ""), sysconfig.get_config_var("CC") or "", "cc", "gcc", "clang"):
        command = words.split()
        if command and shutil.which(command[0]):
            return command
    raise NoCompiler("no C compiler was found (looked for $CC, cc, gcc, clang)")


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "stellwerk" / "native"


def _in_cache(data: bytes, name: str) -> Path:
    """Its folder is its content's hash, so it is never stale."""
    target = _cache_folder() / hashlib.sha256(data).hexdigest()[:16] / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = target.with_name(f".{name}.{os.getpid()}")
        partial.write_bytes(data)
        partial.replace(target)
    return target


def main(words: Sequence[str]) -> None:
    """Build one library by hand."""
    library = {each.name: each for each in LIBRARIES}[words[0]]
    if len(words) > 2:
        library.cross_compile(Path(words[1]), words[2:])
    else:
        library.compile(Path(words[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
