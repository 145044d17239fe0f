"""The archive for ranks and gateways: reproducible, free of the desktop, and it runs on a bare python3."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stellwerk.model.errors import StellwerkError
from stellwerk.native import COLLECTIVES
from stellwerk.remote import runtime, runtime_main
from stellwerk.remote.artefact import Artefact
from stellwerk.remote.runtime import build_runtime, prebuild, prebuilt

BARE = "/usr/bin/python3"  # the system's: nothing of the desktop's environment is in reach


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Path]:
    made = build_runtime()
    path = tmp_path / "share" / made.file_name
    path.parent.mkdir()
    path.write_bytes(made.data)
    yield path


def names(artefact: Artefact) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(artefact.data)).namelist()


def test_two_builds_give_the_same_bytes_under_their_own_hash() -> None:
    first = build_runtime()
    build_runtime.cache_clear()
    second = build_runtime()
    assert first == second
    assert first.sha256 == hashlib.sha256(first.data).hexdigest()
    assert first.file_name == f"runtime-{first.sha256[:16]}.pyz"


def test_it_holds_what_runs_on_nodes_and_nothing_of_the_desktop() -> None:
    found = names(build_runtime())
    assert {
        "__main__.py",
        "stellwerk/collectives/communicator.py",
        "stellwerk/collectives/native/run.c",
        "stellwerk/measure/cluster_rank.py",
        "stellwerk/serving/gateway/app.py",
        "ruamel/yaml/__init__.py",
        "stellwerk_resources/classifier/difficulty.weights",
    } <= set(found)
    desktop = ("stellwerk/remote/", "stellwerk/setup/", "stellwerk/cli/", "stellwerk/virtual/", "stellwerk_gui/")
    assert [n for n in found if n.startswith(desktop)] == []
    assert [n for n in found if "fonts" in n or "icons" in n or "__pycache__" in n] == []


@pytest.mark.skipif(not Path(BARE).exists(), reason="no python3 of the system")
def test_it_runs_isolated_and_imports_neither_qt_nor_ssh(archive: Path) -> None:
    program = (
        "import importlib, json, pkgutil, sys, stellwerk.collectives as c, stellwerk.measure.cluster_rank\n"
        "import stellwerk.collectives.native_library as n, stellwerk.serving.policy.load\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('PySide6', 'asyncssh', 'numpy', 'torch', 'click')]\n"
        "homes = {m.__file__ for m in (c, n)}\n"
        "print(json.dumps([bad, sorted(homes), n.load()._name]))\n"
    )
    folder = runtime_main.unpack(archive)
    (folder / "stellwerk" / "probe.py").write_text(program)
    run = subprocess.run(
        [BARE, "-I", str(archive), "stellwerk.probe"],
        capture_output=True, text=True, cwd=os.sep, check=False, env={"HOME": str(archive.parent), "PATH": "/nowhere"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    bad, homes, library = json.loads(run.stdout)
    assert bad == []
    assert all(home.startswith(str(folder)) for home in homes)
    assert library == str(folder / "stellwerk" / "collectives" / "native" / f"libstellwerk-{platform.machine()}.so")


def test_it_is_unpacked_once_and_two_at_the_same_time_do_not_disturb_each_other(archive: Path) -> None:
    folder = runtime_main.unpack(archive)
    before = folder.stat().st_ino
    assert runtime_main.unpack(archive) == folder
    assert folder.stat().st_ino == before
    assert sorted(p.name for p in archive.parent.iterdir()) == sorted([archive.name, folder.name])


def test_versions_that_nothing_has_started_for_a_month_make_room(archive: Path) -> None:
    share, month_ago = archive.parent, time.time() - runtime_main.UNUSED_S - 60
    for name, used in (("runtime-old", month_ago), ("runtime-other", time.time())):
        (share / name).mkdir()
        (share / f"{name}.pyz").touch()
        os.utime(share / name, (used, used))
    (share / "agent-old.pyz").touch()
    (share / "runtime-running").mkdir()
    os.utime(share / "runtime-running", (month_ago, month_ago))
    gateway = subprocess.Popen([sys.executable, "-c", "input()", "runtime-running.pyz"], stdin=subprocess.PIPE)
    try:
        folder = runtime_main.unpack(archive)
    finally:
        gateway.communicate(b"\n")
    kept = {archive.name, folder.name, "runtime-other", "runtime-other.pyz", "agent-old.pyz", "runtime-running"}
    assert {p.name for p in share.iterdir()} == kept
    os.utime(folder, (month_ago, month_ago))
    runtime_main.unpack(archive)
    assert folder.stat().st_mtime > month_ago + 60, "starting it counts as use"


def test_the_loser_of_a_race_takes_the_winners_folder(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    extract = zipfile.ZipFile.extractall

    def slow(self: zipfile.ZipFile, path: Path) -> None:
        extract(self, path)
        winner = archive.with_suffix("")
        winner.mkdir()
        (winner / "won").touch()

    monkeypatch.setattr(zipfile.ZipFile, "extractall", slow)
    folder = runtime_main.unpack(archive)
    assert [p.name for p in folder.iterdir()] == ["won"]
    assert sorted(p.name for p in archive.parent.iterdir()) == sorted([archive.name, folder.name])


def test_only_modules_of_ours_can_be_started(archive: Path) -> None:
    for words in ([], ["http.server"], ["os"]):
        run = subprocess.run([sys.executable, "-I", str(archive), *words], capture_output=True, text=True, check=False)
        assert run.returncode == 64
        assert "stellwerk.MODULE" in run.stderr


def test_an_old_python_is_told_what_is_needed(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runtime_main, "OLDEST_PYTHON", (4, 0))
    assert runtime_main.main(archive, ["stellwerk.measure.cluster_rank"]) == 78
    assert "4.0 or newer is needed" in capsys.readouterr().err


def test_a_library_of_other_sources_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for source in (*COLLECTIVES.sources, *COLLECTIVES.headers()):
        (tmp_path / source).write_bytes((COLLECTIVES.folder / source).read_bytes())
    library = COLLECTIVES._replace(folder=tmp_path)
    monkeypatch.setattr(runtime, "LIBRARY", library)
    (tmp_path / "libstellwerk-aarch64.so").write_bytes(b"\x7fELF " + library.source_digest().encode())
    assert prebuilt("aarch64") is not None
    (tmp_path / "run.c").write_text("/* newer */")
    assert prebuilt("aarch64") is None


def test_without_a_cross_compiler_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find = runtime.importlib.util.find_spec
    monkeypatch.setattr(runtime.importlib.util, "find_spec", lambda n, *a: None if n == "ziglang" else find(n, *a))
    with pytest.raises(StellwerkError, match="other machines") as caught:
        prebuild(folder=tmp_path)
    assert "ziglang" in caught.value.remedy


def test_a_missing_package_is_an_error_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    build_runtime.cache_clear()
    monkeypatch.setattr(runtime, "PACKAGES", ("no_such_package",))
    with pytest.raises(StellwerkError, match="no_such_package is not installed"):
        build_runtime()
    build_runtime.cache_clear()
