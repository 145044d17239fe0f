"""Trusted host keys: an unknown key is a question, a changed key an alarm."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import asyncssh
import pytest

from stellwerk.model.errors import BadInput, HostKeyChanged, StellwerkError
from stellwerk.remote.trust import (
    HostKey,
    HostKeyAlarmError,
    HostKeyQuestion,
    Trust,
    TrustStore,
    show_fingerprint_command,
)

HOST, PORT = "spark-1", 2222


def new_key(kind: str = "ssh-ed25519") -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind).convert_to_public()


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "state" / "known_hosts")


def path_of(store: TrustStore) -> Path:
    return store._path


def accept(store: TrustStore, key: asyncssh.SSHKey, host: str = HOST, port: int = PORT) -> None:
    store.accept(HostKeyQuestion("spark-1", host, port, HostKey.of(key)))


def test_an_accepted_key_is_trusted_after_reading_the_file_again(store: TrustStore) -> None:
    key = new_key()
    assert store.judge(HOST, PORT, key) is Trust.UNKNOWN
    accept(store, key)
    again = TrustStore(path_of(store))
    assert again.judge(HOST, PORT, key) is Trust.TRUSTED
    assert again.judge("SPARK-1", PORT, key) is Trust.TRUSTED
    assert stat.S_IMODE(path_of(store).stat().st_mode) == 0o600


def test_the_same_host_on_another_port_is_another_machine(store: TrustStore) -> None:
    accept(store, new_key())
    assert store.judge(HOST, 22, new_key()) is Trust.UNKNOWN
    assert store.judge(HOST, PORT, new_key()) is Trust.CHANGED


def test_a_key_of_another_type_is_a_change_too(store: TrustStore) -> None:
    accept(store, new_key())
    assert store.judge(HOST, PORT, new_key("ecdsa-sha2-nistp256")) is Trust.CHANGED


def test_a_machine_may_have_several_types_of_keys(store: TrustStore) -> None:
    first, second = new_key(), new_key("ecdsa-sha2-nistp256")
    accept(store, first)
    store.learn(HOST, PORT, [first, second])
    assert store.keys(HOST, PORT) == (first, second)


def test_keys_are_not_learned_for_a_machine_that_is_not_trusted(store: TrustStore) -> None:
    store.learn(HOST, PORT, [new_key()])
    assert store.keys(HOST, PORT) == ()


def test_an_answered_question_never_replaces_another_key(store: TrustStore) -> None:
    first = new_key()
    accept(store, first)
    with pytest.raises(HostKeyAlarmError):
        accept(store, new_key())
    assert store.keys(HOST, PORT) == (first,)


def test_the_alarm_shows_both_fingerprints_and_replacing_is_a_call_of_its_own(store: TrustStore) -> None:
    old, new = new_key(), new_key()
    accept(store, old)
    accept(store, old, "other", 22)
    alarm = store.alarm("spark-1", HOST, PORT, new)
    error = HostKeyAlarmError(alarm)
    assert isinstance(error, HostKeyChanged)
    for part in (old.get_fingerprint(), new.get_fingerprint(), "spark-1", "ssh-keygen -lf"):
        assert part in str(error)
    store.replace_trust(alarm)
    assert store.keys(HOST, PORT) == (new,)
    assert store.keys("other", 22) == (old,)


def test_forgetting_one_machine_leaves_every_other_line_as_it_is(store: TrustStore) -> None:
    path = path_of(store)
    path.parent.mkdir()
    key = new_key()
    line = HostKey.of(key).line
    path.write_text(f"# by hand\n[spark-1]:2222,other {line} comment\n@revoked x {line}\nweird line\n")
    assert store.keys(HOST, PORT) == (key,)
    assert store.forget(HOST, PORT)
    assert path.read_text() == f"# by hand\nother {line} comment\n@revoked x {line}\nweird line\n"
    assert not store.forget(HOST, PORT)


def test_a_damaged_file_is_named_and_left_alone(store: TrustStore) -> None:
    path = path_of(store)
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="damaged"):
        accept(store, new_key())
    assert path.read_bytes() == b"\xff\xfe\x00"


def test_a_full_disk_keeps_the_old_file(store: TrustStore, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(store, new_key())
    before = path_of(store).read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stellwerk.remote.private_file.os.fsync", full)
    with pytest.raises(StellwerkError, match="No space left"):
        accept(store, new_key(), "spark-2")
    assert path_of(store).read_bytes() == before
    assert [p.name for p in path_of(store).parent.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("kind", "name"), [("ssh-ed25519", "ed25519"), ("ssh-rsa", "rsa"), ("ecdsa-sha2-nistp256", "ecdsa")]
)
def test_the_command_for_the_machine_names_the_file_of_that_key(kind: str, name: str) -> None:
    assert show_fingerprint_command(kind) == f"ssh-keygen -lf /etc/ssh/ssh_host_{name}_key.pub"


def test_the_fingerprint_is_the_one_that_ssh_keygen_prints(tmp_path: Path) -> None:
    public = tmp_path / "key.pub"
    key = HostKey.of(new_key())
    public.write_text(key.line + " root@spark\n")
    out = subprocess.run(["ssh-keygen", "-lf", str(public)], capture_output=True, text=True, check=True).stdout
    assert out.split()[1] == key.fingerprint
