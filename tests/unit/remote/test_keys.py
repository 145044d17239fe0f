"""The cluster's key: made once, closed to others."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stellwerk.model.errors import BadInput
from stellwerk.remote.keys import ClusterKey


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "cluster"
    first = ClusterKey.load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    second = ClusterKey.load_or_create(path)
    assert first.public_line == second.public_line
    assert first.public_line.startswith("ssh-ed25519 ")
    assert "PRIVATE" not in repr(first)


def test_a_key_that_others_can_read_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "cluster"
    ClusterKey.load_or_create(path)
    path.chmod(0o644)
    ClusterKey.load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_garbage_instead_of_a_key_is_named_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "cluster"
    path.write_text("garbage")
    with pytest.raises(BadInput, match="not a private key"):
        ClusterKey.load_or_create(path)
    assert path.read_text() == "garbage"
