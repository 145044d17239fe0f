"""Builds `runtime.pyz`: what runs on a node beyond the agent (ranks, measurements, the gateway).

It holds the core without the desktop's part (SSH, wizard, command line, simulated machines), the pure-Python packages
that the rest needs, and the C library of the collectives as sources and, where they were prebuilt, for x86-64 and
aarch64. As with the agent, the same sources give the same bytes, and the node files it under its hash.

`python -m stellwerk.remote.runtime prebuild` compiles the libraries for both kinds of machine (needs `ziglang`); the
package build does the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say
from stellwerk.native import COLLECTIVES, NoCompiler
from stellwerk.remote.artefact import Artefact, pack

MACHINES = ("x86_64", "aarch64")
# The desktop's own: needs SSH, a terminal, or a screen.
LEFT_OUT = ("cli", "hosting", "remote", "setup", "virtual")
PACKAGES = ("ruamel.yaml",)
WHERE_INSTALLED = ("prometheus_client",)  # the gateway has metrics with it, and goes without
DATA = ("classifier", "policies")
SOURCES = (".py", ".c", ".h")
GLIBC = "2.31"  # older than that of any system that NVIDIA ships for these machines
LIBRARY = COLLECTIVES


@cache
def build_runtime() -> Artefact:
    """Pack the runtime from what is installed here. Raises `StellwerkError` when a package that it needs is missing."""
    members = {"__main__.py": resources.files("stellwerk.remote").joinpath("runtime_main.py").read_bytes()}
    members.update(_of_package("stellwerk", SOURCES, _belongs_on_a_node))
    for package in PACKAGES:
        members.update(_of_package(package, (".py",)))
    for package in WHERE_INSTALLED:
        if importlib.util.find_spec(package) is not None:
            members.update(_of_package(package, (".py",)))
    # A package folder of several distributions has no __init__ of its own; inside the archive nobody else adds to it.
    members.setdefault("ruamel/__init__.py", b"")
    members.update(_of_package("stellwerk_resources", (".py",)))
    members.update(_of_package("stellwerk_resources", ("",), lambda name: name.split("/", 1)[0] in DATA))
    for machine in MACHINES:
        library = prebuilt(machine)
        if library is not None:
            members[f"stellwerk/collectives/native/{LIBRARY.file_for(machine)}"] = library
    data = pack(members)
    return Artefact(data=data, sha256=hashlib.sha256(data).hexdigest(), version=__version__, kind="runtime")


def prebuilt(machine: str) -> bytes | None:
    """The C library for a kind of machine, if there is one that was made from the sources that are sent with it."""
    digest = LIBRARY.source_digest()
    places = [LIBRARY.folder / LIBRARY.file_for(machine)]
    if machine == platform.machine():
        places += [LIBRARY.folder / LIBRARY.file, LIBRARY.cached()]
    for place in places:
        if place.is_file():
            data = place.read_bytes()
            if digest.encode() in data:
                return data
    return _compiled_now() if machine == platform.machine() else None


def _compiled_now() -> bytes | None:
    target = LIBRARY.cached()
    with contextlib.suppress(NoCompiler, RuntimeError, OSError):  # then the node compiles, or goes without
        LIBRARY.compile(target)
        return target.read_bytes()
    return None


def prebuild(machines: Sequence[str] = MACHINES, folder: Path | None = None) -> list[Path]:
    """Compile the C library for both kinds of machine with `ziglang`, where it is not there yet; returns the files.

    Raises `StellwerkError` without `ziglang`, or with the compiler's words.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise StellwerkError(
            "the C library cannot be compiled for other machines",
            why="The Python package ziglang is not installed",
            remedy="pip install ziglang",
        )
    made = []
    for machine in machines:
        target = (folder or LIBRARY.folder) / LIBRARY.file_for(machine)
        if not target.is_file() or LIBRARY.source_digest().encode() not in target.read_bytes():
            compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
            try:
                LIBRARY.cross_compile(target, compiler)
            except (RuntimeError, OSError) as error:
                raise StellwerkError(
                    say("the C library for {machine} could not be compiled", machine=machine), why=str(error)
                ) from error
        made.append(target)
    return made


def _belongs_on_a_node(name: str) -> bool:
    return name.split("/", 1)[0] not in LEFT_OUT


def _of_package(
    package: str, suffixes: tuple[str, ...], wanted: Callable[[str], bool] = lambda name: True
) -> Iterator[tuple[str, bytes]]:
    """Files of an installed package under their names in the archive."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.submodule_search_locations:
        raise StellwerkError(
            say("the Python package {package} is not installed on this computer", package=package),
            why="What runs on the nodes is built from it",
            remedy="Install Stellwerk again",
        )
    root = Path(next(iter(spec.submodule_search_locations)))
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and name.endswith(suffixes) and wanted(name):
            yield f"{package.replace('.', '/')}/{name}", path.read_bytes()


if __name__ == "__main__":
    if sys.argv[1:] != ["prebuild"]:
        sys.exit("usage: python -m stellwerk.remote.runtime prebuild")
    for library in prebuild():
        print(library)
