"""Copies of everything that a change will touch, and how they come back byte for byte."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from stellwerk import wire
from stellwerk.model.errors import PlanRefused
from stellwerk.model.plan import FileChange, SysctlChange, UnitChange
from stellwerk.model.text import say
from stellwerk_agent.netguard import files
from stellwerk_agent.netguard.commands import Runner
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.live import Profile
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.snapshot import Live

MANIFEST = "backup.json"
SPACE_MARGIN_BYTES = 1 << 20
# A full disk must not keep the old files from coming back: this much is held and given up when going back.
RESERVE_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class FileBackup:
    """One file as it was. `copy` None: there was none."""

    path: str
    copy: str | None
    mode: int = 0
    uid: int = 0
    gid: int = 0
    made: tuple[str, ...] = ()  # directories that will be made for it, outermost first


@dataclass(frozen=True, slots=True)
class UnitBackup:
    """One systemd unit as it was; its file is a `FileBackup`."""

    name: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class Backup:
    """All that a change needs to be undone."""

    boot_id: str
    files: tuple[FileBackup, ...] = ()
    units: tuple[UnitBackup, ...] = ()
    sysctls: dict[str, str] = field(default_factory=dict)
    live: Live = field(default_factory=Live)
    owners: dict[str, str] = field(default_factory=dict)  # interface -> networkd | NetworkManager
    profiles: dict[str, Profile] = field(default_factory=dict)  # NetworkManager's active profiles


def targets(request: Request) -> tuple[tuple[str, str | None, str | None, int], ...]:
    """Every file of the plan, units included: path, before, after, mode."""
    found: list[tuple[str, str | None, str | None, int]] = []
    for change in request.plan.changes:
        if isinstance(change, FileChange):
            found.append((change.path, change.before, change.after, change.mode))
        elif isinstance(change, UnitChange):
            found.append((unit_path(change.name), change.before, change.after, 0o644))
    return tuple(found)


def unit_path(name: str) -> str:
    """Where a unit's file lies."""
    return f"/etc/systemd/system/{name}"


def encode(text: str) -> bytes:
    """A file's text as bytes; bytes that were no UTF-8 come back as they were."""
    return text.encode("utf-8", "surrogateescape")


def check_before(layout: Layout, request: Request) -> None:
    """The machine must be as the plan assumed. Raises `PlanRefused` that names what is not."""
    for path, before, _, _ in targets(request):
        try:
            found = files.read(layout.under(path))
        except OSError as error:
            raise PlanRefused(say("{path} cannot be changed", path=path), why=error.strerror or str(error)) from None
        expected = None if before is None else encode(before)
        if found != expected:
            what = say("the file has another content")
            if before is None:
                what = say("the file is new")
            elif found is None:
                what = say("the file is gone")
            raise PlanRefused(
                say("{path} has changed since the plan was made", path=path),
                why=what,
                remedy="make the plan again",
            )
    for change in request.plan.changes:
        if isinstance(change, SysctlChange):
            current = read_sysctl(layout, change.key)
            if current is None:
                raise PlanRefused(
                    say("there is no sysctl {key} on this node", key=change.key), remedy="make the plan again"
                )
            if change.before is not None and current != change.before.strip():
                raise PlanRefused(
                    say("the sysctl {key} has changed since the plan was made", key=change.key),
                    why=say("it is {current}, the plan assumed {before}", current=current, before=change.before),
                    remedy="make the plan again",
                )


def check_space(layout: Layout, request: Request) -> None:
    """There must be room for the new files, the copies and the way back. Raises `PlanRefused`."""
    new = sum(len(encode(after)) for _, _, after, _ in targets(request) if after is not None)
    old = sum(len(encode(before)) for _, before, _, _ in targets(request) if before is not None)
    needed = 2 * (new + old) + RESERVE_BYTES + SPACE_MARGIN_BYTES
    places = {layout.base, *(_existing(layout.under(path).parent) for path, _, _, _ in targets(request))}
    for place in places:
        space = os.statvfs(place)
        free = space.f_bavail * space.f_frsize
        if free < needed or (space.f_files and not space.f_favail):
            raise PlanRefused(
                say("the disk of {place} is full", place=place),
                why=say(
                    "{free} KiB are free, {needed} KiB are needed to change and to go back",
                    free=free // 1024,
                    needed=needed // 1024,
                ),
                remedy="free some space on this node and try again",
            )


def take_files(layout: Layout, request: Request, directory: Path) -> tuple[FileBackup, ...]:
    """Copy every file that the plan touches into `directory`, durably."""
    taken: list[FileBackup] = []
    directory.mkdir(mode=0o700, exist_ok=True)
    for number, (path, _, _, _) in enumerate(targets(request)):
        source = layout.under(path)
        data = files.read(source)
        made = tuple(str(d.relative_to(layout.root)) for d in _missing(source.parent))
        if data is None:
            taken.append(FileBackup(path, None, made=made))
            continue
        info = source.lstat()
        files.place(directory / f"{number}", data, 0o600)
        taken.append(FileBackup(path, f"{number}", stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid))
    return tuple(taken)


def take_units(request: Request, run: Runner) -> tuple[UnitBackup, ...]:
    """Which units of the plan are enabled now."""
    names = [c.name for c in request.plan.changes if isinstance(c, UnitChange)]
    return tuple(UnitBackup(name, run(("systemctl", "is-enabled", name)).ok) for name in names)


def take_sysctls(layout: Layout, request: Request) -> dict[str, str]:
    """The values of the plan's sysctls now."""
    keys = [c.key for c in request.plan.changes if isinstance(c, SysctlChange)]
    values = ((key, read_sysctl(layout, key)) for key in keys)
    return {key: value for key, value in values if value is not None}


def read_sysctl(layout: Layout, key: str) -> str | None:
    """A sysctl's value; None when there is no such sysctl."""
    try:
        return layout.sysctl(key).read_text("ascii", "replace").strip()
    except OSError:
        return None


def write_sysctl(layout: Layout, key: str, value: str) -> None:
    """Set a sysctl. Raises `OSError`."""
    path = layout.sysctl(key)
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "wb", buffering=0) as stream:
        stream.write(value.encode("ascii") + b"\n")


def save(backup: Backup, directory: Path) -> None:
    """Keep the manifest; from here on the change can be undone."""
    files.place(directory / MANIFEST, json.dumps(wire.to_wire(backup)).encode(), 0o600)


def load(directory: Path) -> Backup | None:
    """The manifest; None when the change was killed before anything could be touched."""
    data = files.read(directory / MANIFEST)
    return None if data is None else wire.from_wire(Backup, json.loads(data))


def restore_file(layout: Layout, backup: FileBackup, directory: Path, after: bytes | None) -> str | None:
    """Bring one file back as it was; gives a note when somebody else had changed it in the meantime."""
    target = layout.under(backup.path)
    found = files.read(target)
    old = None if backup.copy is None else files.read(directory / backup.copy)
    if backup.copy is not None and old is None:
        raise OSError(f"the copy of {backup.path} is gone")
    note = None
    if found is not None and found not in (old, after):
        kept = directory / f"found-{target.name}"
        files.place(kept, found, 0o600)
        note = f"{backup.path} had been changed by somebody else; that version is kept in {kept}"
    if old is None:
        files.remove(target)
        for made in reversed(backup.made):
            _remove_if_empty(layout.under(made))
    else:
        files.make_directory(target.parent, 0o755)
        files.place(target, old, backup.mode, (backup.uid, backup.gid))
    return note


def _remove_if_empty(directory: Path) -> None:
    try:
        directory.rmdir()
    except OSError:
        return  # somebody else's file is in it, or it is gone already
    files.sync_directory(directory.parent)


def _missing(directory: Path) -> list[Path]:
    missing: list[Path] = []
    while not directory.exists():
        missing.insert(0, directory)
        directory = directory.parent
    return missing


def _existing(directory: Path) -> Path:
    while not directory.exists():
        directory = directory.parent
    return directory
