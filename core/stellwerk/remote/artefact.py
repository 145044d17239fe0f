"""Builds what is sent to a node: one zip file that its python3 runs.

The same sources give the same bytes on every desktop, because the node files the agent under its hash: two desktops of
one release must not replace each other's agent. Hence fixed time stamps, sorted names, and members stored, not
deflated (the output of deflate depends on the zlib that made it).
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say

_MAIN = b"""\
import sys

from stellwerk_agent.__main__ import main

sys.exit(main())
"""

# On the node `stellwerk` holds nothing but model and wire; the desktop's own __init__ may grow.
_PACKAGE_INIT = f'''"""The part of Stellwerk that nodes share with the desktop."""

__version__ = "{__version__}"
'''.encode()

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the oldest time that a zip file can hold


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file for nodes: its bytes, their SHA-256 in hex, and the release that it belongs to."""

    data: bytes = field(repr=False)
    sha256: str
    version: str
    kind: str = "agent"  # or "runtime"

    @property
    def file_name(self) -> str:
        """The name under which a node keeps it."""
        return f"{self.kind}-{self.sha256[:16]}.pyz"


def build_agent() -> Artefact:
    """Pack the installed agent, `stellwerk.model`, `stellwerk.wire` and, where installed, NVML's Python binding.

    Raises `StellwerkError` when the agent's sources are not installed.
    """
    members = {"__main__.py": _MAIN, "stellwerk/__init__.py": _PACKAGE_INIT}
    for name in ("stellwerk_agent", "stellwerk.model", "stellwerk.wire"):
        sources = dict(_sources(name))
        if not sources:
            raise StellwerkError(
                say("the Python package {name} is not installed on this computer", name=name),
                why="The agent for the nodes is built from it",
                remedy="Install Stellwerk again",
            )
        members.update(sources)
    members.update(_sources("pynvml"))
    data = pack(members)
    return Artefact(data=data, sha256=hashlib.sha256(data).hexdigest(), version=__version__)


def pack(members: dict[str, bytes]) -> bytes:
    """A zip file of `members` (name in the archive -> content) whose bytes depend on nothing else."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.create_system = 3  # Unix, also when a Windows desktop builds it
            info.external_attr = 0o100644 << 16
            archive.writestr(info, members[name])
    return buffer.getvalue()


def _sources(module: str) -> Iterator[tuple[str, bytes]]:
    """The .py files of a package, or the one of a module, under their names in the archive; none if not installed."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    place = module.replace(".", "/")
    if spec.submodule_search_locations is None:
        yield f"{place}.py", origin.read_bytes()
        return
    for path in sorted(origin.parent.rglob("*.py")):
        yield f"{place}/{path.relative_to(origin.parent).as_posix()}", path.read_bytes()
