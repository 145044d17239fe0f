"""When a policy file counts as changed."""

from __future__ import annotations

from pathlib import Path

from stellwerk.serving.gateway.reload import PolicyFile


def test_a_file_that_is_still_being_written_is_left_alone_until_it_rests(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("whole")
    file = PolicyFile(path)
    assert not file.changed()
    with path.open("w") as writing:
        for piece in ("gateway: {}", "\nmore", "\nand more"):
            writing.write(piece)
            writing.flush()
            assert not file.changed()
    assert file.changed()
    assert not file.changed()


def test_a_file_that_is_gone_for_a_moment_has_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("one")
    file = PolicyFile(path)
    path.unlink()
    assert [file.changed() for _ in range(2)] == [False, False]
    path.write_text("another")
    assert [file.changed() for _ in range(3)] == [False, True, False]


def test_what_was_read_meanwhile_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("one")
    file = PolicyFile(path)
    path.write_text("another")
    assert not file.changed()
    assert file.read() == "another"
    assert [file.changed() for _ in range(2)] == [False, False]
