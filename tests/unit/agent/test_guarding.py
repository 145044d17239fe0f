"""The sudo password does not outlive the desktop that gave it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from stellwerk.model.facts import Sudo as SudoState
from stellwerk_agent import guarding
from stellwerk_agent.guarding import Guarding, Unlock
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.options import Options
from stellwerk_agent.rpc import Call, Connection, Context, Nothing
from stellwerk_agent.sudo import Sudo


class _Sudo:
    def __init__(self) -> None:
        self.password: str | None = None
        self.forgotten = asyncio.Event()

    async def unlock(self, password: str) -> SudoState:
        self.password = password
        self.forgotten.clear()
        return SudoState("password", unlocked=True)

    def forget(self) -> None:
        self.password = None
        self.forgotten.set()


class _Connection:
    def __init__(self) -> None:
        self.context = Context()

    def hang_up(self) -> None:
        for action in self.context.on_close:
            action()


@pytest.fixture
def sudo() -> _Sudo:
    return _Sudo()


@pytest.fixture
def guarded(sudo: _Sudo, tmp_path: Path) -> Guarding:
    return Guarding(Options(root=tmp_path, state_dir=tmp_path), cast(Sudo, sudo), NodeLock())


def _call(connection: _Connection) -> Call:
    return Call(1, "sudo.unlock", cast(Connection, connection))


async def test_it_is_forgotten_when_its_desktop_does_not_come_back(
    guarded: Guarding, sudo: _Sudo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "FORGET_S", 0.02)
    desktop = _Connection()
    await guarded._unlock(_call(desktop), Unlock("secret"))
    desktop.hang_up()
    assert sudo.password == "secret"  # a reconnect may need it
    await asyncio.wait_for(sudo.forgotten.wait(), 10)
    assert sudo.password is None


async def test_a_desktop_that_gives_it_again_keeps_it(
    guarded: Guarding, sudo: _Sudo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "FORGET_S", 3600.0)
    first, second = _Connection(), _Connection()
    await guarded._unlock(_call(first), Unlock("secret"))
    first.hang_up()
    pending: Any = guarded._forgetting
    await guarded._unlock(_call(second), Unlock("secret"))
    assert pending.cancelled()
    await guarded._forget(_call(second), Nothing())
    assert sudo.password is None


def test_the_time_it_is_kept_is_the_longest_that_a_change_is_held() -> None:
    assert guarding.FORGET_S == 15 * 60
