"""Which of the libraries that lie about is taken, and what is said when none is."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk import native
from stellwerk.native import COLLECTIVES, LIBRARIES, Library, NativeMissing, NoCompiler


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """One that is compiled nowhere yet."""
    (tmp_path / "half.c").write_text("int sw_half(int x) { return x / 2; }\n")
    monkeypatch.setattr(native, "HERE", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Library, "_finished", lambda self: iter([tmp_path / "old.so"]))
    return Library("libhalf", tmp_path, ("half.c",))


def test_every_c_file_beside_a_library_is_one_of_its_sources() -> None:
    for each in LIBRARIES:
        assert {path.name for path in each.folder.glob("*.c")} == set(each.sources)


def test_a_library_that_does_not_fit_is_passed_over_and_one_is_compiled(library: Library) -> None:
    def take(path: Path) -> Path:
        if path.name == "old.so":
            raise NativeMissing("of another version")
        return path

    try:
        taken = library.load(take)
    except NativeMissing as error:
        pytest.skip(str(error))
    assert taken == library.cached()
    written = taken.stat().st_mtime_ns
    assert library.load(take).stat().st_mtime_ns == written, "compiled once"


def test_when_none_fits_every_reason_is_said(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> list[str]:
        raise NoCompiler("no C compiler was found")

    def take(path: Path) -> Path:
        raise NativeMissing(f"{path.name} is of another version")

    monkeypatch.setattr(native, "compiler", nothing)
    with pytest.raises(NativeMissing, match=r"^old\.so is of another version; no C compiler was found$"):
        library.load(take)


def test_native_libraries_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLWERK_NATIVE", "0")
    with pytest.raises(NativeMissing, match="STELLWERK_NATIVE"):
        COLLECTIVES.load(lambda path: path)
