"""Options, versions and small parts of the entry points."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import socket
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.errors import BadInput
from stellwerk_agent import __main__ as entry
from stellwerk_agent import daemon, paths
from stellwerk_agent.attach import start_remedy, version_key
from stellwerk_agent.jobs import _whole_letters
from stellwerk_agent.options import Options, map_address, parse_unprivileged


def test_an_unknown_command_is_told_how_it_is_used() -> None:
    text = io.StringIO()
    with redirect_stderr(text):
        assert entry.main(["dance"]) == 64
    assert "attach" in text.getvalue()


def test_options_survive_the_way_through_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = Options(tmp_path, f"unix:{tmp_path}", tmp_path / "map.json", tmp_path / "state dir")
    assert parse_unprivileged(options.to_argv()) == options
    monkeypatch.setenv("STELLWERK_AGENT_OPTIONS", f"--root '{tmp_path}'")
    assert parse_unprivileged([]).root == tmp_path
    assert parse_unprivileged(["--root", "/"]).root == Path("/")


@pytest.mark.parametrize(
    "argv",
    [["--root"], ["--root", "relative"], ["--hear-carrier", "smoke"], ["--hear-carrier", "unix:x"], ["x"], ["--no"]],
)
def test_options_that_cannot_be_used_are_named(argv: list[str]) -> None:
    with pytest.raises(BadInput):
        parse_unprivileged(argv)


def test_options_in_the_environment_that_cannot_be_read_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLWERK_AGENT_OPTIONS", "--root '/x")
    with pytest.raises(BadInput, match="STELLWERK_AGENT_OPTIONS"):
        parse_unprivileged([])


@given(st.text(max_size=20))
def test_without_a_map_an_address_is_itself(address: str) -> None:
    assert map_address(Options(), address) == address


def test_releases_are_ordered_by_number_and_a_pre_release_comes_first() -> None:
    names = ["0.1.0.dev1", "0.1", "0.1.1", "0.2.0rc1", "0.2.0", "0.10", "1.0"]
    assert sorted(names, key=version_key) == names
    assert version_key("0.1") == version_key("0.1.0")
    assert version_key("") < version_key("0.0.1")


@given(st.text(max_size=20))
def test_any_version_can_be_compared(text: str) -> None:
    assert isinstance(version_key(text) < version_key("0.1.0"), bool)


@given(st.text(max_size=40), st.integers(0, 3))
def test_a_piece_of_a_log_never_ends_inside_a_letter(text: str, cut: int) -> None:
    text = text.encode("utf-8", "ignore").decode()
    data = text.encode()
    piece = _whole_letters(data[: len(data) - cut])
    assert text.startswith(piece.decode())


def test_nobody_listens_at_a_stale_socket_or_at_none(tmp_path: Path) -> None:
    assert paths.connect(tmp_path / "none.sock") is None
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(tmp_path / "stale.sock"))
    assert paths.connect(tmp_path / "stale.sock") is None


def test_a_second_daemon_does_not_get_the_lock(tmp_path: Path) -> None:
    with paths.file_lock(tmp_path / "daemon.lock"):
        assert paths.try_file_lock(tmp_path / "daemon.lock") is None
        assert daemon.main(["--state-dir", str(tmp_path), "--root", str(tmp_path)]) == daemon.EXIT_RUNNING


async def test_a_daemon_whose_socket_was_removed_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "SOCKET_CHECK_S", 0.05)
    found = daemon.Daemon(Options(root=tmp_path, state_dir=tmp_path))
    listener = paths.listen(paths.socket_path(tmp_path))
    running = asyncio.create_task(found.run(listener))
    await asyncio.sleep(0)
    paths.socket_path(tmp_path).unlink()
    assert await asyncio.wait_for(running, 20) is False


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_daemon_without_space_is_told_to_free_some(number: int) -> None:
    assert "free space" in start_remedy(f"OSError: [Errno {number}] {os.strerror(number)}", Path("/home/x"))


def test_another_failure_to_start_is_not_put_down_to_space() -> None:
    remedy = start_remedy("ImportError: No module named 'json'", Path("/home/x"))
    assert "space" not in remedy and "/home/x/daemon.out" in remedy
