"""How root is had: states, the password's way, the root-owned copy. sudo itself is a stand-in here."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stellwerk.model.errors import AgentRefused, BadInput, SudoFailed
from stellwerk_agent import askpass
from stellwerk_agent.bootstrap import INSTALL, installed_path, is_installed
from stellwerk_agent.options import Options
from stellwerk_agent.selfrun import Self
from stellwerk_agent.sudo import RootResult, Sudo, judge_sudo
from unit.netguard.standin import StandIn, packed_agent

PASSWORD = "s3cret-Wörd"


@pytest.fixture
def standin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand = StandIn(tmp_path)
    monkeypatch.setenv("PATH", f"{stand.bin}:/usr/bin:/bin")
    return stand


@pytest.fixture
def options(tmp_path: Path) -> Options:
    (tmp_path / "root").mkdir(exist_ok=True)
    return Options(root=tmp_path / "root", state_dir=tmp_path / "state")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("sudo: a password is required\n", "password"),
        ("sudo: a terminal is required to read the password; either use the -S option ...\n", "password"),
        ("nvidia is not in the sudoers file.\n", "none"),
        ("Sorry, user nvidia is not allowed to execute '/usr/bin/true' as root on spark-1.\n", "none"),
        ("Sorry, user nvidia may not run sudo on spark-1.\n", "none"),
        ("sudo: sorry, you must have a tty to run sudo\n", "none"),
        ('sudo: The "no new privileges" flag is set, which prevents sudo from running as root.\n', "none"),
        ("sudo: /etc/sudo.conf is owned by uid 65534, should be 0\n", "unknown"),
    ],
)
def test_sudos_own_words_tell_how_root_can_be_had(said: str, state: str) -> None:
    assert judge_sudo(RootResult(1, b"", said), unlocked=False).state == state


async def test_without_a_sudo_command_root_cannot_be_had(
    tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    state = await Sudo(options).state()
    assert (state.state, state.why) == ("none", "there is no sudo command on this node")
    with pytest.raises(SudoFailed, match="no sudo command"):
        await Sudo(options).unlock("x")


async def test_a_right_password_unlocks_and_is_forgotten_again(standin: StandIn, options: Options) -> None:
    standin.rules(mode="password")
    sudo = Sudo(options)
    assert (await sudo.state()).state == "password"
    assert (await sudo.unlock(PASSWORD)).unlocked
    assert (await sudo.state()).unlocked
    sudo.forget()
    assert not (await sudo.state()).unlocked


async def test_a_wrong_password_is_tried_once_and_says_what_to_do(standin: StandIn, options: Options) -> None:
    standin.rules(mode="password")
    sudo = Sudo(options)
    with pytest.raises(SudoFailed) as failure:
        await sudo.unlock("wrong")
    assert failure.value.what == "the sudo password is wrong"
    assert "type the password" in failure.value.remedy
    assert "wrong" not in str(failure.value).replace("is wrong", "")
    assert not sudo.unlocked


async def test_a_user_who_is_no_administrator_is_told_so_after_the_right_password(
    standin: StandIn, options: Options
) -> None:
    standin.rules(mode="password", member=False)
    sudo = Sudo(options)
    with pytest.raises(SudoFailed, match="may not become root"):
        await sudo.unlock(PASSWORD)
    state = await sudo.state()
    assert (state.state, state.why) == ("none", "nvidia is not in the sudoers file.")


@pytest.mark.parametrize("password", ["", "two\nlines", "nul\0", "x" * 300])
async def test_what_can_be_no_password_never_reaches_sudo(standin: StandIn, options: Options, password: str) -> None:
    standin.rules(mode="password")
    with pytest.raises(BadInput):
        await Sudo(options).unlock(password)
    assert not [argv for argv, _ in standin.seen() if "-A" in argv]


async def test_the_password_is_in_no_argument_environment_or_file(
    tmp_path: Path, standin: StandIn, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = packed_agent(tmp_path)
    monkeypatch.setattr("stellwerk_agent.sudo.find_self", lambda: Self(archive, (sys.executable, "-I"), None))
    standin.rules(mode="password")
    sudo = Sudo(options)
    await sudo.unlock(PASSWORD)
    (await sudo.run_root("read-netplan")).json()
    assert all(PASSWORD not in str(line) for line in standin.seen())
    (standin.here / "sudo.json").unlink()  # the stand-in's own copy
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) >= 3
    assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]
    assert not list(options.state_dir.iterdir()), "script and socket are gone with the call"


async def test_the_askpass_socket_answers_once_and_only_while_it_is_served(tmp_path: Path) -> None:
    async def ask(script: Path) -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(script, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        return process.returncode, out

    async with askpass.served(b"pw", tmp_path, "/usr/bin/python3") as script:
        assert script.stat().st_mode & 0o777 == 0o700
        sockets = [path for path in tmp_path.iterdir() if path.is_socket()]
        assert [path.stat().st_mode & 0o777 for path in sockets] == [0o600]
        assert await ask(script) == (0, b"pw\n")
        assert await ask(script) == (1, b"")
    assert not list(tmp_path.iterdir())


async def test_a_state_directory_with_a_long_path_still_serves_the_password(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90) / ("e" * 60)
    deep.mkdir(parents=True)
    async with askpass.served(b"pw", deep, "/usr/bin/python3") as script:
        process = await asyncio.create_subprocess_exec(script, stdout=asyncio.subprocess.PIPE)
        assert (await process.communicate())[0] == b"pw\n"


async def test_root_runs_only_its_own_verified_copy(
    tmp_path: Path, standin: StandIn, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = packed_agent(tmp_path)
    monkeypatch.setattr("stellwerk_agent.sudo.find_self", lambda: Self(archive, (sys.executable, "-I"), None))
    done = await Sudo(options).run_root("read-netplan")
    assert done.json() == {"files": []}
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    place = installed_path(options.root, digest)
    assert place.stat().st_mode & 0o777 == 0o644
    called = [argv for argv, _ in standin.seen() if "root" in argv]
    assert [argv[argv.index("-I") + 1] for argv in called] == [str(place)]
    assert str(archive) not in called[0]
    place.write_bytes(place.read_bytes() + b"x")  # spoilt: a new daemon puts it right before it runs anything
    assert not is_installed(place, digest, options.root)
    (await Sudo(options).run_root("read-netplan")).json()
    assert is_installed(place, digest, options.root)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda p, d: (p, d.replace(d[0], "0" if d[0] != "0" else "1"), d), "not a place for the agent"),
        (lambda p, d: (p, "0" * 64, "0" * 64), "not what it should be"),
        (lambda p, d: (p.with_name("link"), d, d), "Too many levels of symbolic links"),
        (lambda p, d: (p, d, "../../etc"), "not a place for the agent"),
    ],
)
def test_the_bootstrap_takes_nothing_but_the_agent_and_only_to_its_place(
    tmp_path: Path, spoil: object, says: str
) -> None:
    source = tmp_path / "agent.pyz"
    source.write_bytes(b"agent")
    source.with_name("link").symlink_to(source)
    digest = hashlib.sha256(b"agent").hexdigest()
    path, told, name = spoil(source, digest)  # type: ignore[operator]
    place = tmp_path / "var/lib/stellwerk" / name / "agent.pyz"
    done = subprocess.run(
        [sys.executable, "-I", "-c", INSTALL, str(path), told, str(place)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert says in done.stderr
    assert not list(tmp_path.rglob("var/lib/stellwerk/*/agent.pyz"))


async def test_running_from_sources_never_becomes_root(standin: StandIn, options: Options) -> None:
    with pytest.raises(AgentRefused, match="runs from its sources"):
        await Sudo(options).run_root("status")


async def test_root_refuses_to_run_what_a_user_can_write(tmp_path: Path) -> None:
    archive = packed_agent(tmp_path)
    done = subprocess.run(
        [sys.executable, "-I", str(archive), "root", "status"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    says = "only from /var/lib/stellwerk" if os.geteuid() == 0 else "run as root only"
    assert says in done.stdout
