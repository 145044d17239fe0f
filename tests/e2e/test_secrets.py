"""A whole set-up with every logger at its loudest: no password and no private key in a log, an argument, an
environment, or a file that others may read."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from stellwerk.virtual import VirtualCluster
from stellwerk.virtual.places import CONTROL_SOCKET, default_base

LOUD = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, filename=sys.argv[1])
import asyncssh
asyncssh.set_debug_level(2)
from stellwerk.cli.main import cli
cli(sys.argv[2:])
"""


def owner_of(control: Path) -> int:
    """Which process listens on that socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(str(control))
        return int(struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])


def cluster_of(process: psutil.Process) -> Path | None:
    """The directory of the virtual cluster that a child of `process` runs."""
    children = {child.pid for child in process.children(recursive=True)}
    for control in default_base().glob(f"v-*/{CONTROL_SOCKET}"):
        try:
            if owner_of(control) in children:
                return control.parent
        except OSError:
            continue  # it has not begun to listen, or belongs to a cluster that ends just now
    return None


def private_parts(text: str) -> list[str]:
    """Lines that only this private key has: the first ones are the same in all."""
    return [line for line in text.splitlines()[3:-1] if len(line) > 40]


def below(folder: Path) -> Iterator[Path]:
    """Everything below a folder that may go away meanwhile."""
    for place, _, names in os.walk(folder):
        for name in names:
            yield Path(place, name)


def key_files(folder: Path) -> Iterator[Path]:
    for path in below(folder):
        if path.is_file() and not path.is_symlink() and (path.name.endswith("_key") or path.name == "id_ed25519"):
            yield path


def whole_tree(root: psutil.Process) -> Iterator[psutil.Process]:
    yield root
    yield from root.children(recursive=True)


def in_processes(root: psutil.Process, secrets: dict[str, str]) -> set[str]:
    """Secrets in the arguments or the environment of a process of the run."""
    found: set[str] = set()
    for process in whole_tree(root):
        try:
            words = "\0".join(process.cmdline()), "\0".join(process.environ().values())
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
        for place, text in zip(("argument", "environment"), words, strict=True):
            found |= {f"{what} in an {place} of {process.pid}" for what, secret in secrets.items() if secret in text}
    return found


def in_files(folders: list[Path], secrets: dict[str, str]) -> set[str]:
    """Secrets in a log, or in a file that others may read."""
    found: set[str] = set()
    for path in [path for folder in folders for path in below(folder)]:
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            is_log = path.suffix in (".log", ".jsonl") or "journal" in path.parts
            if not (is_log or status.st_mode & (stat.S_IRGRP | stat.S_IROTH)):
                continue
            text = path.read_bytes().decode("latin-1")
        except OSError:
            continue  # it is gone again
        found |= {f"{what} in {path}" for what, secret in secrets.items() if secret in text}
    return found


@pytest.mark.timeout(300)
async def test_no_secret_leaves_its_place(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    log = tmp_path / "desktop.log"
    log.touch(0o600)
    words = ["setup", "--virtual", "2", "--topology", "pair", "--yes", "--json", str(tmp_path / "result.json")]
    words += ["--report", str(tmp_path / "report.html")]
    with (tmp_path / "said.log").open("wb") as said:
        started = subprocess.Popen(
            [sys.executable, "-c", LOUD, str(log), *words],
            env={**os.environ, "HOME": str(home), "STELLWERK_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
    run = psutil.Process(started.pid)
    secrets: dict[str, str] = {}
    found: set[str] = set()
    looks = 0
    try:
        folder = None
        while folder is None and started.poll() is None:
            folder = await asyncio.to_thread(cluster_of, run)
        assert folder is not None, (tmp_path / "said.log").read_text()
        async with VirtualCluster.attach(folder) as cluster:
            for node in cluster.nodes:
                secrets[f"the password of {node.name}"] = node.password
                secrets[f"the sudo password of {node.name}"] = node.sudo_password
        while started.poll() is None:
            for path in [*key_files(folder), *key_files(home)]:
                try:
                    parts = private_parts(path.read_text("ascii"))
                except OSError:
                    continue
                secrets.update({f"{path} line {i}": line for i, line in enumerate(parts)})
            found |= await asyncio.to_thread(in_processes, run, dict(secrets))
            if looks % 10 == 0:
                found |= await asyncio.to_thread(in_files, [folder, home], dict(secrets))
            looks += 1
    finally:
        if started.poll() is None:
            started.kill()
        started.wait()
    assert started.returncode == 0, (tmp_path / "said.log").read_text()
    assert looks > 20
    assert any("id_ed25519" in name for name in secrets), "the cluster's key was never seen"
    assert log.stat().st_size > 10_000, "the loggers were silent"
    for name, secret in secrets.items():
        for path in (log, tmp_path / "said.log", tmp_path / "result.json", tmp_path / "report.html"):
            if secret in path.read_bytes().decode("latin-1"):
                found.add(f"{name} in {path.name}")
    assert found == set()
