"""Where clusters lie, and the loopback addresses that each has for itself."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from stellwerk.model.errors import BadInput
from stellwerk.virtual import places
from stellwerk.virtual.onnode.init import remove_node


def test_two_clusters_never_share_a_block_of_addresses() -> None:
    first, second = places.LoopbackBlock.take(), places.LoopbackBlock.take()
    try:
        assert first.number != second.number
    finally:
        first.release()
        second.release()


def test_a_cluster_directory_is_for_its_owner_alone() -> None:
    with tempfile.TemporaryDirectory() as base:  # pytest's own paths are too long for sockets
        made = places.make_cluster_dir(Path(base))
        assert made.parent == Path(base).resolve()
        assert made.stat().st_mode & 0o777 == 0o700


def test_a_directory_that_somebody_else_put_there_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "trap"
    trap.symlink_to(tmp_path)
    monkeypatch.setattr(places, "default_base", lambda: trap)
    with pytest.raises(BadInput, match="belongs to somebody else"):
        places.make_cluster_dir(None)


def test_the_only_cluster_is_chosen_and_two_have_to_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_all_places", lambda: (tmp_path,))
    with pytest.raises(BadInput, match="no virtual cluster runs"):
        places.choose(None)
    base = tmp_path / places.default_base().name
    for name in ("v-1", "v-2"):
        (base / name).mkdir(parents=True)
        (base / name / places.CONTROL_SOCKET).touch()
        if name == "v-1":
            assert places.choose(None) == base / "v-1"
    with pytest.raises(BadInput, match="more than one virtual cluster runs"):
        places.choose(None)
    assert places.choose(base / "v-2") == base / "v-2"


def test_of_nodes_that_end_at_once_the_last_one_may_find_nothing_left(tmp_path: Path) -> None:
    remove_node(str(tmp_path / "cluster" / "spark-1"))
    assert list(tmp_path.iterdir()) == []
