"""The user's own keys: which are offered, in which order, and why one is not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from stellwerk.remote.identity import UserIdentity, user_keys
from stellwerk.remote.target import Target


def target(**changes: object) -> Target:
    return Target("spark-1", 22, "nvidia", "spark-1", **changes)


def make_key(path: Path, kind: str = "ssh-ed25519") -> asyncssh.SSHKey:
    key = asyncssh.generate_private_key(kind)
    key.write_private_key(path)
    path.chmod(0o600)
    key.write_public_key(path.with_suffix(".pub"))
    return key


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A real ssh-agent with one key, whose file lies beside its socket."""
    folder = tmp_path_factory.mktemp("a")
    sock = folder / "s"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(sock)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it prints its variables when it listens
    try:
        make_key(folder / "held")
        subprocess.run(
            ["ssh-add", "-q", str(folder / "held")], check=True, env={**os.environ, "SSH_AUTH_SOCK": str(sock)}
        )
        yield sock
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


async def offered(identity: UserIdentity | None, where: Target) -> tuple[list[bytes], tuple[str, ...]]:
    async with user_keys(identity, where) as keys:
        return [pair.public_data for pair in keys.pairs], keys.notes


async def test_named_files_come_before_the_agent_and_the_agent_before_the_usual_files(
    tmp_path: Path, agent: Path
) -> None:
    usual = make_key(tmp_path / "id_ed25519")
    named = make_key(tmp_path / "special", "ecdsa-sha2-nistp256")
    held = asyncssh.read_private_key(agent.parent / "held")
    identity = UserIdentity(tmp_path, str(agent))
    keys, notes = await offered(identity, target(identity_files=(str(tmp_path / "special"),)))
    assert keys == [named.public_data, held.public_data, usual.public_data]
    assert notes == ()


async def test_with_identities_only_the_agent_gives_only_what_is_named(tmp_path: Path, agent: Path) -> None:
    make_key(tmp_path / "id_ed25519")
    held = asyncssh.read_private_key(agent.parent / "held")
    (tmp_path / "token.pub").write_bytes((agent.parent / "held.pub").read_bytes())
    identity = UserIdentity(tmp_path, str(agent))
    only = target(identities_only=True, identity_files=(str(tmp_path / "token"),))
    assert (await offered(identity, only))[0] == [held.public_data]
    assert (await offered(identity, target(identities_only=True)))[0] == []


async def test_the_agent_of_the_configuration_wins_and_none_switches_it_off(tmp_path: Path, agent: Path) -> None:
    assert len((await offered(UserIdentity(), target(identity_agent=str(agent))))[0]) == 1
    assert (await offered(UserIdentity(agent_path=str(agent)), target(identity_agent="none")))[0] == []


async def test_what_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "id_rsa").write_text("garbage")
    identity = UserIdentity(tmp_path, str(tmp_path / "no-agent"))
    keys, notes = await offered(identity, target(identity_files=("/nonexistent/key",)))
    assert keys == []
    assert len(notes) == 3
    assert any("does not exist" in note for note in notes)
    assert any("ssh-agent" in note and "does not answer" in note for note in notes)
    assert any("id_rsa is not a key" in note for note in notes)


async def test_without_an_identity_not_even_a_named_file_is_read(tmp_path: Path) -> None:
    make_key(tmp_path / "named")
    assert await offered(None, target(identity_files=(str(tmp_path / "named"),))) == ([], ())


def test_the_default_identity_knows_nothing_of_the_user() -> None:
    assert UserIdentity() == UserIdentity(None, None)
