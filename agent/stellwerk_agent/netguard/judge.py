"""Lets netplan judge the merged files of the machine with ours in a staging tree, before anything is touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

from stellwerk.model.errors import PlanRefused
from stellwerk.model.text import say
from stellwerk_agent.netguard import backup, files
from stellwerk_agent.netguard.commands import MISSING, Runner
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.live import generate_command
from stellwerk_agent.netguard.request import Request

# netplan-generate(8): files of the same name in a later place replace those of an earlier one.
NETPLAN_PLACES = ("lib/netplan", "usr/lib/netplan", "etc/netplan", "run/netplan")


def touches_netplan(request: Request) -> bool:
    """Whether any file of the plan is netplan's."""
    return any(PurePosixPath(path).parent == PurePosixPath("/etc/netplan") for path, *_ in backup.targets(request))


def stage(layout: Layout, request: Request, tree: Path) -> None:
    """Build the tree: all netplan files of the machine, changed as planned."""
    shutil.rmtree(tree, ignore_errors=True)
    for place in NETPLAN_PLACES:
        source = layout.root / place
        # /lib is a link to /usr/lib nowadays; reading a file twice would be no second opinion.
        if not source.is_dir() or (place == "lib/netplan" and (layout.root / "lib").is_symlink()):
            continue
        (tree / place).mkdir(mode=0o700, parents=True)
        for path in sorted(source.glob("*.yaml")):
            if not path.is_file():  # a pipe would keep us waiting, and netplan after us
                where = f"/{place}/{path.name}"
                raise PlanRefused(
                    say("{where} is not a regular file", where=where),
                    why="netplan reads it",
                    remedy="remove it or mend it",
                )
            _write(tree / place / path.name, path.read_bytes())
    for name, _, after, _ in backup.targets(request):
        path = tree / name.lstrip("/")
        if PurePosixPath(name).parent != PurePosixPath("/etc/netplan"):
            continue
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if after is not None:
            _write(path, backup.encode(after))


def judge(layout: Layout, request: Request, tree: Path, run: Runner) -> None:
    """Run the generator over the tree. Raises `PlanRefused` with netplan's own words."""
    if not touches_netplan(request):
        return
    stage(layout, request, tree)
    try:
        done = run(generate_command(layout, tree), timeout_s=60.0)
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    if done.rc == MISSING:
        raise PlanRefused("netplan is not installed on this node", why=done.complaint, remedy="install netplan.io")
    if not done.ok:
        words = done.stderr.replace(f"{tree}/", "/").strip() or say("it ended with {rc}", rc=done.rc)
        raise PlanRefused("netplan refuses the planned files", why=words, remedy="mend the file that it names")


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)


def prepare_tree(layout: Layout) -> None:
    """Make the places that root keeps, with their modes."""
    files.make_directory(layout.base, 0o755)
    files.make_directory(layout.guard, 0o700)
