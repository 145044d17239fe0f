"""Which backends `stellwerk launch` swaps; no torch needed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import stellwerk.collectives
from stellwerk.cli.launch import environment


@pytest.fixture(scope="module")
def site() -> ModuleType:
    folder = Path(stellwerk.collectives.__file__).parent / "launch_site"
    spec = importlib.util.spec_from_file_location("launch_site", folder / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("named", "used"),
    [
        ("nccl", "stellwerk"),
        ("NCCL", "stellwerk"),
        ("cpu:gloo,cuda:nccl", "stellwerk"),
        ("gloo", "gloo"),
        ("cpu:gloo", "cpu:gloo"),
        ("mpi", "mpi"),
    ],
)
def test_only_nccl_is_swapped(site: ModuleType, named: str, used: str) -> None:
    assert site._swapped(named) == used


def test_the_programs_own_module_path_is_kept_and_ours_comes_first() -> None:
    changed = environment("tcp", "10.0.0.1", {"PYTHONPATH": "/mine", "HOME": "/h"})
    first, *others = changed["PYTHONPATH"].split(":")
    assert first.endswith("launch_site")
    assert others[0] == "/mine"
    assert changed["STELLWERK_TRANSPORT"] == "tcp"
    assert changed["STELLWERK_ADDRESS"] == "10.0.0.1"
    assert changed["HOME"] == "/h"
