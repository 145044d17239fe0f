"""Which RDMA devices and GIDs a rank uses: read from sysfs every time, because the index of a GID moves."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PORT = 1


class NoRail(Exception):
    """A rank has no usable RDMA device; the text says why."""


@dataclass(frozen=True, slots=True)
class Rail:
    """One RDMA device (a half of a port), and the index of its RoCE v2 GID."""

    device: str
    gid_index: int
    address: str


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""  # empty GID slots cannot be read


def _rail(folder: Path) -> Rail | str:
    """The rail of a device, or why it is none. Of several IPv4 GIDs the lowest is taken."""
    port = folder / "ports" / str(PORT)
    if not _read(port / "state").endswith("ACTIVE"):
        return f"{folder.name} is not active"
    for entry in sorted((port / "gids").glob("*"), key=lambda path: int(path.name) if path.name.isdigit() else 0):
        if _read(port / "gid_attrs" / "types" / entry.name) != "RoCE v2":
            continue
        try:
            mapped = ipaddress.IPv6Address(_read(entry)).ipv4_mapped
        except ValueError:
            continue
        if mapped is not None:
            return Rail(folder.name, int(entry.name), str(mapped))
    return f"{folder.name} has no RoCE v2 GID with an IPv4 address"


def find_rails(names: Sequence[str], address: str, root: Path = Path("/sys")) -> list[Rail]:
    """The named devices, or the one that has this rank's own address. NoRail says what is missing."""
    base = root / "class" / "infiniband"
    folders = {path.name: path for path in base.iterdir()} if base.is_dir() else {}
    if not folders:
        raise NoRail("there is no RDMA device")
    if names:
        missing = [name for name in names if name not in folders]
        if missing:
            raise NoRail(f"RDMA device {missing[0]} not found; there are {', '.join(sorted(folders))}")
        found = [_rail(folders[name]) for name in names]
        for rail in found:
            if isinstance(rail, str):
                raise NoRail(rail)
        return [rail for rail in found if isinstance(rail, Rail)]
    rails = [_rail(folders[name]) for name in sorted(folders)]
    for rail in rails:
        if isinstance(rail, Rail) and rail.address == address:
            return [rail]
    reasons = [rail for rail in rails if isinstance(rail, str)]
    raise NoRail("; ".join([f"no RDMA device has the address {address or '(none)'}", *reasons]))
