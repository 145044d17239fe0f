"""The verbs that run as root: a fixed list with typed arguments. `agent.pyz root VERB [options]`.

    start                   stdin: a request as JSON -> GuardStatus
    undo --plan-id ID       stdin: {"lease_s", "hard_limit_s"} -> GuardStatus
    guard --plan-id ID      the guard process (started by `start` and `undo`)
    status                  -> GuardStatus; goes back first when a guard was killed
    revert                  take back what is unfinished and held by nobody -> GuardStatus
    boot-restore            the boot unit's
    read-netplan            -> {"files": [NetplanFile]}
    link-up IF up|down      -> {}
    hear-raw …              raw frames for cable discovery (`stellwerk_agent.hearing_raw`)
    remove                  un-pairing -> {}

One JSON object goes to stdout; an error is `{"error": {code, what, why, remedy}}` with exit status 3.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import AgentRefused, ApplyFailed, BadInput, StellwerkError
from stellwerk.model.facts import NetplanFile
from stellwerk.model.text import say
from stellwerk_agent.netguard import files, guard, request, start, undo
from stellwerk_agent.netguard.commands import run
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.transaction import Machine
from stellwerk_agent.netguard.verbs import run_verb
from stellwerk_agent.selfrun import find_self

EXIT_ERROR = 3
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
VERBS = ("start", "undo", "guard", "status", "revert", "boot-restore", "read-netplan", "link-up", "hear-raw", "remove")
MAX_INPUT_BYTES = wire.MAX_LINE_BYTES
MAX_NETPLAN_BYTES = 1 << 20


def main(argv: list[str]) -> int:
    """Run one verb. The exit status is 0, 3 for an error told as JSON, 64 for a wrong call."""
    if not argv or argv[0] not in VERBS:
        sys.stderr.write(f"usage: agent root {'|'.join(VERBS)} [options]\n")
        return 64
    verb, rest = argv[0], argv[1:]
    parser = argparse.ArgumentParser(prog=f"agent root {verb}", allow_abbrev=False)
    parser.add_argument("--root", type=Path, default=Path("/"))
    known, rest = parser.parse_known_args(rest)
    try:
        root = Path(known.root).resolve()
        _clean_environment(root)
        _check_place(root)
        if verb == "hear-raw":
            words = [*rest, "--root", str(root)] if root != Path("/") else rest
            code: int = importlib.import_module("stellwerk_agent.hearing_raw").main(words)
            return code
        return _run(verb, rest, root)
    except StellwerkError as error:
        start.print_error(error)
    except OSError as error:
        what = (
            say("{filename}: {strerror}", filename=error.filename, strerror=error.strerror)
            if error.filename
            else str(error.strerror or error)
        )
        start.print_error(ApplyFailed(what))
    except ValueError as error:
        start.print_error(BadInput("the request cannot be read", why=str(error)))
    return EXIT_ERROR


def _run(verb: str, rest: list[str], root: Path) -> int:
    machine = Machine(Layout(root), run, agent_argv(root, "boot-restore"))
    if verb in ("undo", "guard"):
        plan_id = _plan_id(rest)
        if verb == "guard":
            return guard.guard(machine, plan_id)
        told = _read_input()
        asked = undo.undo_request(machine.layout, plan_id, owner_uid())
        lease_s, hard_s = (
            float(told.get("lease_s", request.LEASE_S)),
            float(told.get("hard_limit_s", request.HARD_LIMIT_S)),
        )
        _print(start.start(machine, start.with_times(asked, lease_s, hard_s), agent_argv(root, "guard")))
    elif verb == "start":
        told = {**_read_input(), "owner_uid": owner_uid(), "undo_of": None}
        _print(start.start(machine, wire.from_wire(request.Request, told), agent_argv(root, "guard")))
    elif verb == "status":
        _print(start.status(machine))
    elif verb == "revert":
        _print(start.revert_now(machine))
    elif verb == "boot-restore":
        _print(start.boot_restore(machine))
    elif verb == "read-netplan":
        _print({"files": read_netplan(machine.layout)})
    elif verb == "link-up":
        if len(rest) != 2 or rest[1] not in ("up", "down"):
            raise BadInput("link-up wants an interface and up or down")
        run_verb((f"link-{rest[1]}", rest[0]), run)
        _print({})
    elif verb == "remove":
        start.remove_all(machine)
        _print({})
    return 0


def owner_uid() -> int:
    """The user who may speak to the guard: the one who called sudo, or root."""
    told = os.environ.get("SUDO_UID", "")
    return int(told) if told.isdigit() else os.getuid()


def agent_argv(root: Path, verb: str) -> tuple[str, ...]:
    """How this agent starts itself again as root, without anything from a user's environment."""
    me = find_self()
    where = () if root == Path("/") else ("--root", str(root))
    if me.archive is not None:
        return (python(root), "-I", str(me.archive), "root", verb, *where)
    return (*me.argv, "root", verb, *where)


def python(root: Path) -> str:
    """The interpreter: the system's on a real machine, the one in PATH elsewhere."""
    return "/usr/bin/python3" if root == Path("/") else shutil.which("python3") or sys.executable


def read_netplan(layout: Layout) -> list[NetplanFile]:
    """All files of /etc/netplan with their texts."""
    found: list[NetplanFile] = []
    for path in sorted(layout.under("/etc/netplan").glob("*.yaml")):
        name = f"/etc/netplan/{path.name}"
        try:
            info = path.lstat()
            if info.st_size > MAX_NETPLAN_BYTES:
                found.append(NetplanFile(name, stat.S_IMODE(info.st_mode), None, "larger than 1 MiB"))
                continue
            data = files.read(path)
        except OSError as error:
            found.append(NetplanFile(name, 0, None, error.strerror or str(error)))
            continue
        if data is not None:
            found.append(NetplanFile(name, stat.S_IMODE(info.st_mode), data.decode("utf-8", "surrogateescape")))
    return found


def _plan_id(rest: list[str]) -> str:
    parser = argparse.ArgumentParser(prog="agent root", allow_abbrev=False)
    parser.add_argument("--plan-id", required=True)
    plan_id: str = parser.parse_args(rest).plan_id
    return plan_id


def _read_input() -> dict[str, Any]:
    data = json.loads(sys.stdin.buffer.read(MAX_INPUT_BYTES))
    if not isinstance(data, dict):
        raise BadInput("the request is no JSON object")
    return data


def _print(value: Any) -> None:
    sys.stdout.write(json.dumps(wire.to_wire(value, texts=True)) + "\n")
    sys.stdout.flush()


def _clean_environment(root: Path) -> None:
    """On a real machine commands come from the system's places, whatever sudoers lets through."""
    if root != Path("/"):
        return
    kept = {key: os.environ[key] for key in ("SUDO_UID", "SUDO_GID", "SUDO_USER") if key in os.environ}
    os.environ.clear()
    os.environ.update(kept, PATH=SYSTEM_PATH, LANG="C.UTF-8")


def _check_place(root: Path) -> None:
    """Root runs only what lies under its own content hash in a place that its user cannot write."""
    os.umask(0o022)
    if root != Path("/"):
        return
    if os.geteuid() != 0:
        raise AgentRefused("the root verbs run as root only")
    archive = find_self().archive
    if archive is None or archive.parent.parent != Path("/var/lib/stellwerk"):
        raise AgentRefused("root runs the agent only from /var/lib/stellwerk", remedy="let the daemon install it there")
    for path in (archive, archive.parent, archive.parent.parent):
        info = path.lstat()
        if info.st_uid != 0 or info.st_mode & 0o022:
            raise AgentRefused(say("{path} can be written by others than root", path=path))
    if hashlib.sha256(archive.read_bytes()).hexdigest() != archive.parent.name:
        raise AgentRefused(
            say("{archive} is not what its name says", archive=archive),
            remedy="remove it; the daemon installs it again",
        )
