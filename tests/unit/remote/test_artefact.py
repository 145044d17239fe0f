"""The agent's archive: reproducible, complete, and free of the desktop."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.remote import artefact
from stellwerk.remote.artefact import build_agent, pack


def _names(data: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(data)).namelist()


def test_two_builds_give_the_same_bytes() -> None:
    first, second = build_agent(), build_agent()
    assert first == second
    assert first.sha256 == hashlib.sha256(first.data).hexdigest()
    assert first.file_name == f"agent-{first.sha256[:16]}.pyz"
    assert first.version == __version__


def test_the_archive_does_not_depend_on_file_times_or_on_the_order_of_members() -> None:
    assert pack({"b.py": b"2", "a.py": b"1"}) == pack({"a.py": b"1", "b.py": b"2"})
    times = {info.date_time for info in zipfile.ZipFile(io.BytesIO(build_agent().data)).infolist()}
    assert times == {(1980, 1, 1, 0, 0, 0)}


def test_it_holds_agent_model_wire_and_nothing_of_the_desktop() -> None:
    names = _names(build_agent().data)
    assert {"__main__.py", "stellwerk/__init__.py", "stellwerk/wire.py", "stellwerk/model/errors.py"} <= set(names)
    assert "stellwerk_agent/__init__.py" in names
    foreign = [n for n in names if n.startswith("stellwerk/") and not n.startswith("stellwerk/model/")]
    assert sorted(foreign) == ["stellwerk/__init__.py", "stellwerk/wire.py"]
    assert all(name.endswith(".py") for name in names)


def test_nvml_travels_along_when_it_is_installed() -> None:
    pytest.importorskip("pynvml")
    assert "pynvml.py" in _names(build_agent().data)


def test_an_isolated_python_imports_all_it_needs_from_the_archive(tmp_path: Path) -> None:
    pyz = tmp_path / "agent.pyz"
    pyz.write_bytes(build_agent().data)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import stellwerk, stellwerk.wire, stellwerk.model.facts, stellwerk_agent;"
        "mods = [stellwerk, stellwerk.wire, stellwerk.model.facts, stellwerk_agent];"
        "assert all(m.__file__.startswith(sys.argv[1]) for m in mods), mods;"
        "print(stellwerk.__version__)"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(pyz)], capture_output=True, text=True, cwd=os.sep, check=False
    )
    assert run.stdout.strip() == __version__, run.stderr


def test_a_missing_agent_is_an_error_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefact, "_sources", lambda module: iter(()))
    with pytest.raises(StellwerkError, match="not installed"):
        build_agent()
