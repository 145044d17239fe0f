"""How commands end: with a message for a person and the right exit code, whatever went wrong."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import click
import pytest

from stellwerk.cli.common import command, write_json
from stellwerk.cli.network import read_plan
from stellwerk.cli.setup import folder_of
from stellwerk.model.errors import BadInput
from stellwerk.remote import Target
from stellwerk.setup.store import ClusterStore, NodeEntry


def ended(error: BaseException) -> int:
    """The exit code of a command that raises `error`."""

    @command
    async def run() -> int:
        raise error

    with pytest.raises(SystemExit) as exit_:
        run()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def test_a_file_that_cannot_be_used_is_a_message_not_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(PermissionError(13, "Permission denied", "/etc/out.json")) == 2
    said = capsys.readouterr().err
    assert "/etc/out.json cannot be used" in said
    assert "Permission denied" in said


def test_a_mistake_of_the_program_says_so_and_shows_no_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STELLWERK_DEBUG", raising=False)
    assert ended(TypeError("unhashable")) == 2
    said = capsys.readouterr().err
    assert "mistake in Stellwerk itself" in said
    assert "TypeError: unhashable" in said
    assert "Traceback" not in said


def test_asked_for_the_traceback_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    @command
    async def run() -> int:
        raise TypeError("unhashable")

    monkeypatch.setenv("STELLWERK_DEBUG", "1")
    with pytest.raises(TypeError):
        run()


@pytest.mark.parametrize("error", [click.UsageError("no"), click.Abort(), BrokenPipeError(), EOFError()])
def test_what_click_has_words_for_is_left_to_it(error: BaseException) -> None:
    @command
    async def run() -> int:
        raise error

    with pytest.raises(type(error)):
        run()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_a_command_cleans_up_first(number: signal.Signals) -> None:
    cleaned = []

    @command
    async def run() -> int:
        try:
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)
        return 0

    # Whoever runs the tests may have this signal ignored (nohup does); a shell's command starts with the default.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as exit_:
            run()
    finally:
        signal.signal(number, before)
    assert exit_.value.code == 2
    assert cleaned == [True]


def test_json_with_passwords_is_for_the_user_only(tmp_path: Path) -> None:
    path = tmp_path / "virtual.json"
    path.touch(mode=0o644)
    write_json(str(path), {"password": "x"}, private=True)
    assert path.stat().st_mode & 0o077 == 0


def test_an_endless_file_is_no_plan_and_is_not_read_to_its_end() -> None:
    with pytest.raises(BadInput, match="holds no plan"):
        read_plan(Path("/dev/zero"))


def targets(*hosts: str) -> list[Target]:
    return [Target(host, 22, "nvidia", host) for host in hosts]


def test_setup_again_goes_on_with_the_cluster_of_the_first_time(tmp_path: Path) -> None:
    store = ClusterStore(tmp_path)
    first = folder_of(store, targets("a", "b"), None)
    assert folder_of(store, targets("a", "b"), None).path == first.path, "nobody was paired the first time"
    first.save(first.load().with_node(NodeEntry("a", "a")))
    assert folder_of(store, targets("a", "b"), None).path == first.path, "one was paired the first time"
    assert folder_of(store, targets("c"), None).path != first.path
    assert folder_of(store, targets("a", "b"), "other").path != first.path


def test_setup_of_some_machines_of_a_cluster_does_not_touch_the_others(tmp_path: Path) -> None:
    store = ClusterStore(tmp_path)
    first = folder_of(store, targets("a", "b"), None)
    first.save(first.load().with_node(NodeEntry("a", "a")).with_node(NodeEntry("b", "b")))
    assert folder_of(store, targets("a"), None).path != first.path
