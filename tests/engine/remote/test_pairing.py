"""Pairing: host keys, logins, the cluster's key, several machines at once."""

from __future__ import annotations

import asyncio
import logging
import stat
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from engine.remote.fakenode import USER, FakeNode
from engine.remote.people import Person, Watcher
from stellwerk.model.errors import Cancelled, HostKeyUnknown, LoginFailed
from stellwerk.remote import (
    Desktop,
    HostKeyAlarmError,
    LinkState,
    NodeLink,
    PasswordQuestion,
    Target,
    UserIdentity,
    pair_all,
)

Nodes = Callable[..., Awaitable[FakeNode]]
Links = Callable[..., NodeLink]


async def test_pairing_goes_through_its_states_and_ends_ready(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    watcher = Watcher(link)
    await link.pair(person)
    await watcher.until(LinkState.READY)
    assert watcher.states == [
        LinkState.CHECKING_KEY,
        LinkState.LOGGING_IN,
        LinkState.INSTALLING_AGENT,
        LinkState.READY,
    ]
    assert link.hello is not None
    assert link.hello.agent_hash == link.desktop.agent.sha256


async def test_an_unknown_key_is_shown_with_fingerprint_and_the_command_for_the_machine(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    await links(node).pair(person)
    [question] = person.host_keys
    assert question.key.fingerprint == node.host_keys[0].get_fingerprint()
    assert question.key.kind == "ssh-ed25519"
    assert question.command == "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub"


async def test_nothing_is_sent_to_a_machine_whose_key_nobody_confirmed(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    person.trusts = False
    link = links(node)
    with pytest.raises(HostKeyUnknown, match="spark-1"):
        await link.pair(person)
    assert link.state is LinkState.NEEDS_ATTENTION
    assert node.password_attempts == 0
    assert person.questions == []


async def test_a_changed_key_is_an_alarm_that_pairing_again_does_not_silence(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    await link.close()
    old = node.host_keys[0].get_fingerprint()
    await node.stop()
    node.host_keys = [asyncssh.generate_private_key("ssh-ed25519")]
    await node.start()
    new = node.host_keys[0].get_fingerprint()
    person.host_keys.clear()
    for again in range(2):
        fresh = links(node, f"spark-1-{again}")
        with pytest.raises(HostKeyAlarmError) as caught:
            await fresh.pair(person)
        assert old in str(caught.value)
        assert new in str(caught.value)
    assert person.host_keys == []
    assert fresh.alarm is not None
    fresh.replace_trust(fresh.alarm)
    await fresh.connect()
    assert fresh.state is LinkState.READY


async def test_a_key_of_another_type_is_an_alarm_too(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    await link.close()
    await node.stop()
    node.host_keys = [asyncssh.generate_private_key("ecdsa-sha2-nistp256")]
    await node.start()
    with pytest.raises(HostKeyAlarmError, match="ecdsa"):
        await links(node, "again").pair(person)


async def test_further_keys_that_a_trusted_machine_proves_are_learned(
    nodes: Nodes, links: Links, person: Person, desktop: Desktop
) -> None:
    both = [asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ecdsa-sha2-nistp256")]
    node = await nodes(host_keys=both)
    link = links(node)
    await link.pair(person)
    assert len(person.host_keys) == 1
    async with asyncio.timeout(10):
        while len(desktop.trust.keys("127.0.0.1", node.port)) < 2:
            await link.call("hello", {}, deadline_s=5)
    await link.close()
    await node.stop()
    node.host_keys = both[1:]
    await node.start()
    again = links(node)
    await again.connect()
    assert again.state is LinkState.READY


async def test_the_password_is_asked_once_and_the_key_works_from_then_on(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    assert node.password_attempts == 1
    await link.close()
    node.password = None
    again = links(node)
    await again.connect()
    assert node.logins[-1] == f"key {again.desktop.key.fingerprint}"
    assert len(person.questions) == 1


async def test_pairing_a_paired_machine_again_asks_nothing(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    await link.close()
    before = node.authorized_keys()
    await links(node).pair(person)
    assert len(person.questions) == 1
    assert node.authorized_keys() == before


async def test_a_wrong_password_is_asked_again_up_to_three_times(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    person.passwords = ["wrong", "geheim"]
    await links(node).pair(person)
    assert [question.attempt for question in person.questions] == [1, 2]
    assert person.questions[1].why

    other = await nodes()
    person.passwords = ["a", "b", "c", "geheim"]
    link = links(other, "spark-2")
    with pytest.raises(LoginFailed, match="3 passwords"):
        await link.pair(person)
    assert link.state is LinkState.NEEDS_ATTENTION
    assert other.authorized_keys() is None


async def test_a_refused_password_after_which_none_comes_is_called_refused(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    person.passwords = ["falsch", None]
    link = links(node)
    with pytest.raises(LoginFailed, match="could not log in") as caught:
        await link.pair(person)
    assert "refused the password" in (caught.value.why or "")
    assert f"ssh -p {node.port} {USER}@127.0.0.1" in (caught.value.remedy or "")


async def test_no_password_given_means_cancelled_and_the_machine_can_be_retried(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes()
    person.passwords = [None, "geheim"]
    link = links(node)
    with pytest.raises(Cancelled):
        await link.pair(person)
    await link.pair(person)
    assert link.state is LinkState.READY


async def test_keyboard_interactive_with_several_questions(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(password=None, questions=[("Password: ", False, "geheim"), ("Code\x1b[31m: ", True, "123456")])
    person.passwords = ["geheim", "123456"]
    await links(node).pair(person)
    assert [(question.prompt, question.echo) for question in person.questions] == [
        ("Password:", False),
        ("Code [31m:", True),
    ]
    assert node.logins[0] == "prompts"


class SlowTypist(Person):
    """Thinks longer than the whole login may take."""

    async def password(self, question: PasswordQuestion) -> str | None:
        await asyncio.sleep(1.2)
        return await super().password(question)


async def test_the_time_in_which_a_person_thinks_does_not_count(nodes: Nodes, links: Links) -> None:
    node = await nodes(password=None, questions=[("Code: ", False, "geheim")])
    link = links(node)
    link.desktop = replace(link.desktop, deadlines=replace(link.desktop.deadlines, login_s=1.0))
    await link.pair(SlowTypist(passwords=["geheim"]))
    assert link.state is LinkState.READY


async def test_a_wrong_answer_to_keyboard_interactive_is_asked_again(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes(password=None, questions=[("Password: ", False, "geheim")])
    person.passwords = ["wrong", "geheim"]
    await links(node).pair(person)
    assert [question.attempt for question in person.questions] == [1, 2]


async def test_a_refused_password_is_not_tried_a_second_time_as_an_answer(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes(questions=[("Password: ", False, "geheim")])
    person.passwords = ["wrong", "geheim"]
    await links(node).pair(person)
    assert len(person.questions) == 2
    assert all(not question.prompt for question in person.questions)


async def test_a_machine_that_takes_keys_only_says_so(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(password=None)
    with pytest.raises(LoginFailed, match="keys only"):
        await links(node).pair(person)
    assert person.questions == []


async def test_the_users_own_key_needs_no_password(
    nodes: Nodes, links: Links, person: Person, desktop: Desktop, tmp_path: Path
) -> None:
    node = await nodes(password=None)
    own = asyncssh.generate_private_key("ssh-ed25519")
    ssh_dir = tmp_path / "user" / ".ssh"
    ssh_dir.mkdir(parents=True)
    own.write_private_key(ssh_dir / "id_ed25519")
    (node.home / ".ssh").mkdir(mode=0o700)
    (node.home / ".ssh" / "authorized_keys").write_bytes(own.export_public_key())
    link = links(node)
    link.desktop = replace(desktop, identity=UserIdentity(ssh_dir=ssh_dir))
    await link.pair(person)
    assert list(dict.fromkeys(node.logins)) == [f"key {own.get_fingerprint()}", f"key {desktop.key.fingerprint}"]


async def test_a_key_with_a_passphrase_is_named_with_the_way_to_use_it(
    nodes: Nodes, links: Links, person: Person, desktop: Desktop, tmp_path: Path
) -> None:
    node = await nodes(password=None)
    keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "passphrase", "-f", str(tmp_path / "id_ed25519")]
    subprocess.run(keygen, check=True)
    link = links(node)
    link.desktop = replace(desktop, identity=UserIdentity(ssh_dir=tmp_path))
    with pytest.raises(LoginFailed, match="ssh-add"):
        await link.pair(person)


async def test_a_machine_that_allows_few_attempts_still_gets_to_the_password(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes(max_attempts=1)
    link = links(node)
    await link.pair(person)
    assert node.logins[0] == "password"


async def test_authorized_keys_gets_one_line_and_safe_permissions(
    nodes: Nodes, links: Links, person: Person, desktop: Desktop
) -> None:
    node = await nodes()
    folder = node.home / ".ssh"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    keys = folder / "authorized_keys"
    keys.write_bytes(b"# mine\nssh-ed25519 AAAA me")
    keys.chmod(0o666)
    await links(node).pair(person)
    assert keys.read_bytes().endswith(b"\n# mine\nssh-ed25519 AAAA me")
    assert keys.read_bytes().count(desktop.key.public_line.encode()) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600


async def test_a_machine_that_ignores_the_installed_key_is_explained_and_left_clean(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes(accepts_keys=False)
    node.home.chmod(0o775)
    link = links(node)
    with pytest.raises(LoginFailed, match="chmod go-w") as caught:
        await link.pair(person)
    assert "0775" in str(caught.value)
    assert not (node.home / ".ssh").exists()


async def test_all_machines_are_paired_in_parallel_and_one_that_fails_stops_nobody(
    nodes: Nodes, links: Links, person: Person
) -> None:
    good = [await nodes() for _ in range(2)]
    bad = await nodes(python="missing")
    person.passwords = ["geheim"] * 3
    made = [links(node, f"spark-{number}") for number, node in enumerate([good[0], bad, good[1]], 1)]
    results = await pair_all(made, person)
    assert results["spark-1"] is None
    assert results["spark-3"] is None
    assert "python3" in str(results["spark-2"])
    assert [link.state for link in made] == [LinkState.READY, LinkState.NEEDS_ATTENTION, LinkState.READY]
    bad.python = "real"
    person.passwords = ["geheim"]
    await made[1].pair(person)
    assert made[1].state is LinkState.READY


class Undecided(Person):
    """Never answers about host keys."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def confirm_host_key(self, question: object) -> bool:
        self.asked.set()
        await asyncio.Event().wait()
        return False


async def test_cancelling_leaves_every_machine_found_and_no_connection(nodes: Nodes, links: Links) -> None:
    made = [links(await nodes(), f"spark-{number}") for number in (1, 2)]
    person = Undecided()
    pairing = asyncio.create_task(pair_all(made, person))
    await person.asked.wait()
    pairing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pairing
    assert [link.state for link in made] == [LinkState.FOUND, LinkState.FOUND]


async def test_closing_one_link_takes_it_out_of_the_pairing(nodes: Nodes, links: Links) -> None:
    link = links(await nodes())
    person = Undecided()
    pairing = asyncio.create_task(pair_all([link], person))
    await person.asked.wait()
    await link.close()
    results = await pairing
    assert isinstance(results["spark-1"], Cancelled)
    assert link.state is LinkState.CLOSED


async def test_a_jump_host_is_trusted_and_logged_in_to_first(nodes: Nodes, links: Links, person: Person) -> None:
    gate, node = await nodes(), await nodes()
    gate.forwards = True
    person.passwords = ["geheim", "geheim"]
    jump = (Target("127.0.0.1", gate.port, USER, "gate"),)
    link = links(node, jump=jump)
    await link.pair(person)
    assert [question.port for question in person.host_keys] == [gate.port, node.port]
    assert [question.node for question in person.questions] == ["spark-1, jump host 127.0.0.1", "spark-1"]
    assert gate.authorized_keys() is None
    assert link.state is LinkState.READY


async def test_nothing_of_the_users_own_ssh_files_is_read_or_written(
    nodes: Nodes, links: Links, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "user" / ".ssh"
    folder.mkdir(parents=True)
    (folder / "config").write_text("Host *\n  User evil\n  ProxyCommand /bin/false\n  Ciphers 3des-cbc\n")
    (folder / "known_hosts").write_text("garbage")
    (folder / "id_ed25519").write_text("garbage")
    before = {path: (path.read_text(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "none"))
    link = links(await nodes())
    await link.pair(person)
    assert link.state is LinkState.READY
    assert {path: (path.read_text(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


async def test_no_secret_reaches_any_log(
    nodes: Nodes, links: Links, person: Person, caplog: pytest.LogCaptureFixture, desktop: Desktop
) -> None:
    caplog.set_level(logging.DEBUG)
    asyncssh.set_debug_level(2)
    try:
        node = await nodes(password="sehr-geheimes-wort", questions=[("Code: ", True, "987654321")])
        person.passwords = ["falsches-wort", "sehr-geheimes-wort"]
        await links(node).pair(person)
        only_questions = await nodes(password=None, questions=[("Code: ", True, "987654321")])
        person.passwords = ["987654321"]
        await links(only_questions, "spark-2").pair(person)
    finally:
        asyncssh.set_debug_level(1)
    text = caplog.text + "".join(str(record.args) for record in caplog.records)
    assert "Trying password auth" in text  # the log was really captured at its finest
    private = desktop.key.private.export_private_key().decode().splitlines()[1]
    assert all(command == "python3 -I -" or command.endswith("attach") for command in node.commands)
    for secret in ("sehr-geheimes-wort", "falsches-wort", "987654321", private):
        assert secret not in text
