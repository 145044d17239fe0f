"""The small programs for nodes, run here in a temporary home."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stellwerk.remote import node_python, on_node

LINE = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOurs"
BLOB = LINE.split()[1]
MARKER = "stellwerk-cluster-key"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@given(before=st.one_of(st.none(), st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_adding_and_removing_the_key_is_invisible_afterwards(home: Path, before: bytes | None) -> None:
    folder = home / ".ssh"
    keys = folder / "authorized_keys"
    if before is not None:
        folder.mkdir(mode=0o700)
        keys.write_bytes(before)
    on_node.add_key(LINE, MARKER)
    assert keys.read_bytes().startswith(LINE.encode())
    assert keys.read_bytes().endswith(before or b"")
    assert on_node.add_key(LINE, MARKER)["added"] is False
    on_node.remove_key(BLOB, MARKER)
    if before is None:
        assert not folder.exists()
    else:
        assert keys.read_bytes() == before
        keys.unlink()
        folder.rmdir()


def test_a_file_that_the_user_filled_meanwhile_stays(home: Path) -> None:
    on_node.add_key(LINE, MARKER)
    keys = home / ".ssh" / "authorized_keys"
    keys.write_bytes(keys.read_bytes() + b"ssh-rsa AAAA other\n")
    on_node.remove_key(BLOB, MARKER)
    assert keys.read_bytes() == b"ssh-rsa AAAA other\n"


def test_a_linked_authorized_keys_stays_a_link(home: Path) -> None:
    (home / "elsewhere").write_bytes(b"ssh-rsa AAAA other\n")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "authorized_keys").symlink_to(home / "elsewhere")
    on_node.add_key(LINE, MARKER)
    assert (home / ".ssh" / "authorized_keys").is_symlink()
    assert LINE in (home / "elsewhere").read_text()


def test_an_error_of_the_system_is_an_answer_with_its_name(home: Path) -> None:
    (home / ".local").write_text("a file in the way")
    answer = on_node.answer({"verb": "try_store", "arguments": {"size": 1}})
    assert answer["stellwerk"] == "failed"
    assert answer["errno"] == "ENOTDIR"
    assert str(home) in answer["path"]


def test_a_damaged_agent_is_not_stored(home: Path) -> None:
    request = {"verb": "receive_agent", "arguments": {"name": "agent-x.pyz", "sha256": "0" * 64, "data": "AAAA"}}
    assert on_node.answer(request)["stellwerk"] == "failed"
    assert not (home / on_node.SHARE).exists()


def test_removing_files_ends_only_a_process_that_is_an_agent(home: Path) -> None:
    (home / on_node.STATE).mkdir(parents=True)
    (home / ".local" / "keep").write_text("x")
    assert on_node.remove_files(os.getpid())["removed"] == [str(home / on_node.STATE)]
    assert [path.name for path in (home / ".local").iterdir()] == ["keep"]


def test_the_program_for_nodes_is_python_3_10_and_needs_only_the_standard_library() -> None:
    tree = ast.parse(node_python._program_text(), feature_version=(3, 10))
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(name.startswith(("stellwerk", "asyncssh")) for name in modules)


def test_the_words_around_the_program_are_understood_by_any_python_3() -> None:
    ast.parse(node_python._script({"verb": "look", "arguments": {}}), feature_version=(3, 4))
