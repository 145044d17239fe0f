"""What is added to the user's SSH files comes out again byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.errors import BadInput
from stellwerk_agent import mesh_files
from stellwerk_agent.mesh_files import Peer

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
PEERS = [Peer(alias, "10.0.0.1", 22, "nvidia", f"{KEY} c@h", (KEY,)) for alias in ("spark-2", "spark-1")]
USER_TEXT = st.binary(max_size=200).filter(lambda text: b"stellwerk" not in text.lower())


@given(USER_TEXT)
def test_the_users_configuration_comes_back_byte_for_byte(text: bytes) -> None:
    added = mesh_files.with_include(text)
    assert added.startswith(mesh_files.INCLUDE)
    assert added.endswith(text)
    assert mesh_files.with_include(added) == added
    assert mesh_files.without_include(added) == text
    assert mesh_files.without_include(text) == text


@given(USER_TEXT)
def test_authorized_keys_come_back_byte_for_byte(text: bytes) -> None:
    added = mesh_files.with_keys(text, PEERS)
    assert added.count(KEY.encode()) == 2
    assert mesh_files.with_keys(added, PEERS) == added
    assert mesh_files.without_keys(added) == text
    assert mesh_files.without_keys(mesh_files.with_keys(added, PEERS[:1])) == text
    assert mesh_files.without_keys(text) == text


@given(USER_TEXT, USER_TEXT.filter(lambda text: bool(text.strip(b"\n"))))
def test_what_the_user_adds_behind_our_keys_stays(text: bytes, more: bytes) -> None:
    line = more.strip(b"\n").replace(b"\n", b" ") + b"\n"
    left = mesh_files.without_keys(mesh_files.with_keys(text, PEERS) + line)
    assert left == text + (b"" if not text or text.endswith(b"\n") else b"\n") + line


def test_the_configuration_names_each_machine_and_no_other() -> None:
    text = mesh_files.config_text(PEERS)
    assert [line for line in text.splitlines() if line.startswith("Host ")] == ["Host spark-1", "Host spark-2"]
    assert "StrictHostKeyChecking yes" in text
    assert mesh_files.known_hosts_text(PEERS).splitlines()[1:] == [f"spark-1 {KEY}", f"spark-2 {KEY}"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-ed25519",
        "ssh-ed25519 AAAA",
        f"{KEY}\n{KEY}",
        f'command="x" {KEY}',
        "-----BEGIN OPENSSH PRIVATE KEY-----",
    ],
)
def test_only_a_public_key_is_taken_for_one(text: str) -> None:
    with pytest.raises(BadInput):
        mesh_files.key_words(text)


@given(st.text(max_size=30))
def test_any_alias_is_a_plain_word_or_refused(text: str) -> None:
    try:
        mesh_files.check_peer(Peer(text, "10.0.0.1", 22, "nvidia", KEY, (KEY,)))
    except BadInput:
        return
    assert text.isascii()
    assert not set(text) & set(" \t\n*?!,'\"#%")


def test_aliases_of_the_users_own_are_found_in_any_spelling() -> None:
    config = b'host spark-1 "spark-2"\nHost=spark-3\n# Host spark-4\nHostName spark-5\n'
    names = [f"spark-{n}" for n in range(1, 6)]
    assert mesh_files.shadowed(config, names) == ["spark-1", "spark-2", "spark-3"]
