"""Compiles the C tests with sanitizers and runs them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stellwerk.native import COLLECTIVES, NoCompiler, compiler

HERE = Path(__file__).parent
PROGRAMS = sorted(path.stem for path in HERE.glob("test_*.c"))
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
SANITIZERS = {
    "address and undefined": ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    # gcc says that TSan does not know fences; what hangs on one is the wake-up alone, which has a time-out
    "thread": ["-O1", "-g", "-fsanitize=thread", "-Wno-tsan"],
}


def build(program: str, folder: Path, command: list[str], extra: list[str]) -> Path:
    binary = folder / program
    sources = [str(COLLECTIVES.folder / name) for name in COLLECTIVES.sources]
    if program == "test_verbs":
        sources.append(str(HERE / "fake_verbs.c"))
        extra = [*extra, "-rdynamic"]  # the library under test looks its functions up by name
    words = [*command, *FLAGS, *extra, "-o", str(binary), str(HERE / f"{program}.c"), *sources]
    done = subprocess.run([*words, "-lm", "-lpthread", "-ldl"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary


def run(command: list[str]) -> None:
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "TSAN_OPTIONS": "halt_on_error=1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_c_tests_are_found() -> None:
    assert len(PROGRAMS) >= 2


@pytest.mark.parametrize(
    ("program", "sanitizer"),
    [(p, "address and undefined") for p in PROGRAMS] + [("test_transports", "thread")],
)
def test_program_is_clean(program: str, sanitizer: str, tmp_path: Path) -> None:
    if program == "test_verbs" and not Path("/usr/include/infiniband/verbs.h").exists():
        pytest.skip("needs the headers of libibverbs (package libibverbs-dev)")
    try:
        command = compiler()
    except NoCompiler as error:
        pytest.skip(str(error))
    run([str(build(program, tmp_path, command, SANITIZERS[sanitizer]))])


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p != "test_verbs"])
def test_program_runs_on_aarch64(program: str, tmp_path: Path) -> None:
    """Cross-compiled by the PyPI package `ziglang`, run by qemu-user."""
    if not importlib.util.find_spec("ziglang") or not shutil.which("qemu-aarch64"):
        pytest.skip("needs the package ziglang and qemu-aarch64")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-static", "-O2"]
    run(["qemu-aarch64", str(build(program, tmp_path, command, []))])
