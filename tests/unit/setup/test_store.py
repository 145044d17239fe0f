"""The desktop's files: nothing is lost on garbage, a full disk, a second window or a crash."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stellwerk.model.errors import BadInput, Busy, StellwerkError
from stellwerk.setup.journal import Journal
from stellwerk.setup.outcome import unfinished_plans
from stellwerk.setup.store import Cluster, ClusterFolder, ClusterStore, NodeEntry, parse_cluster, render_cluster
from stellwerk.setup.undo import applied_plans

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12)
NODES = st.builds(NodeEntry, name=NAMES, host=NAMES, port=st.integers(1, 65535), user=NAMES, number=st.integers(1, 8))


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """Every write beyond the first byte fails, as on a full disk. Only inside: pytest writes its own output, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@given(st.lists(NODES, max_size=4), NAMES, st.lists(NODES, max_size=2))
def test_a_cluster_reads_back_as_it_was_written(nodes: list[NodeEntry], name: str, unpaired: list[NodeEntry]) -> None:
    cluster = Cluster("id", name, tuple(nodes), topology="ring", mtu=1500, unpaired=tuple(unpaired))
    assert parse_cluster(render_cluster(cluster, None), Path("cluster.yaml")) == cluster


def test_comments_of_a_person_stay_when_the_program_saves(tmp_path: Path) -> None:
    folder, cluster = ClusterStore(tmp_path).create("workshop")
    text = "# ours, on the shelf\n" + folder.cluster_file.read_text() + "rack: 3  # left one\n"
    folder.cluster_file.write_text(text)
    folder.save(folder.load().with_node(NodeEntry("spark-1", "10.0.0.1")))
    saved = folder.cluster_file.read_text()
    assert saved.startswith("# ours, on the shelf\n")
    assert "rack: 3  # left one" in saved
    assert folder.load().extra == {"rack": 3}
    assert folder.load().cluster_id == cluster.cluster_id


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_garbage_in_the_cluster_file_is_one_clear_message(data: bytes) -> None:
    try:
        parse_cluster(data, Path("cluster.yaml"))
    except BadInput as error:
        assert "cluster.yaml" in str(error)


def test_a_wrong_value_is_named_with_its_line(tmp_path: Path) -> None:
    folder, _ = ClusterStore(tmp_path).create("workshop")
    folder.cluster_file.write_text("version: 1\nid: a\nname: b\nmtu: many\n")
    with pytest.raises(BadInput, match="line 4: `mtu` must be a whole number"):
        folder.load()


def test_a_file_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder, _ = ClusterStore(tmp_path).create("workshop")
    folder.cluster_file.write_text("version: 9\n")
    with pytest.raises(BadInput, match="Update Stellwerk"):
        folder.load()
    assert folder.cluster_file.read_text() == "version: 9\n"


def test_a_full_disk_while_saving_keeps_the_old_file(tmp_path: Path) -> None:
    folder, cluster = ClusterStore(tmp_path).create("workshop")
    before = folder.cluster_file.read_bytes()
    with full_disk(), pytest.raises(StellwerkError, match="the disk is full"):
        folder.save(cluster.with_node(NodeEntry("spark-1", "10.0.0.1")))
    assert folder.cluster_file.read_bytes() == before
    assert [p.name for p in folder.path.iterdir()] == ["cluster.yaml"]


def test_a_full_disk_leaves_no_half_journal_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("begin", "p1")
    with full_disk(), pytest.raises(StellwerkError, match="the disk is full"):
        journal.write("decision", "p1", verdict="confirm")
    assert [e.event for e in journal.entries()] == ["begin"]


def test_a_second_window_is_told_who_holds_the_cluster(tmp_path: Path) -> None:
    folder = ClusterFolder(tmp_path)
    with folder.lock(), pytest.raises(Busy, match=r"process [0-9]+ of"), folder.lock():
        pass
    with folder.lock():
        pass


def test_a_torn_last_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("begin", "p1")
    with journal.path.open("ab") as stream:
        stream.write(b'{"event":"deci')
    journal.write("end", "p1")
    assert [e.event for e in journal.entries()] == ["begin", "end"]


def test_unfinished_plans_are_found_after_a_crash(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for plan, events in (("p1", ("begin", "end")), ("p2", ("begin", "decision"))):
        for event in events:
            journal.write(event, plan)
    assert journal.unfinished() == ["p2"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"begin","plan":[1],"at":"now"}',
        b'{"event":{},"plan":"p","at":"now"}',
        b'{"event":"begin","plan":"p","at":"now","node":[]}',
        b'{"event":"begin","plan":"p","at":"now","data":7}',
        b"null",
        b"[]",
        b"\xff\x00",
    ],
)
def test_a_line_that_is_no_entry_is_skipped(line: bytes, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("begin", "p1")
    with journal.path.open("ab") as stream:
        stream.write(line + b"\n")
    assert [e.plan_id for e in journal.entries()] == ["p1"]
    assert journal.unfinished() == ["p1"]


@pytest.mark.parametrize("data", [{}, {"plan": {"bogus": 1}}, {"plan": None}])
def test_an_open_plan_that_cannot_be_read_is_named_and_not_passed_over(data: dict[str, Any], tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("begin", "p1", **data)
    before = journal.path.read_bytes()
    with pytest.raises(BadInput, match="plan p1 cannot be read"):
        unfinished_plans(journal)
    assert journal.path.read_bytes() == before


def test_a_plan_that_was_never_applied_need_not_be_readable_to_take_others_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("begin", "p1", plan={"bogus": 1})
    journal.write("end", "p1", applied=False)
    assert applied_plans(journal) == []


def test_a_folder_that_cannot_be_made_is_a_clear_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StellwerkError, match="could not be saved on this computer"):
        ClusterStore(tmp_path / "file").create("workshop")
    with pytest.raises(StellwerkError, match="could not be saved on this computer"):
        Journal(tmp_path / "file" / "journal.jsonl").write("begin", "p1")


def test_files_with_secrets_are_for_the_user_only(tmp_path: Path) -> None:
    folder, _ = ClusterStore(tmp_path / "cfg").create("workshop")
    assert folder.cluster_file.stat().st_mode & 0o077 == 0
    assert folder.path.stat().st_mode & 0o077 == 0


def test_a_node_that_is_paired_is_no_longer_one_that_waits() -> None:
    waits = (NodeEntry("10.0.0.1", "10.0.0.1"), NodeEntry("b", "b"))
    cluster = Cluster("i", "c", unpaired=waits).with_node(NodeEntry("spark-1", "10.0.0.1"))
    assert cluster.unpaired == waits[1:], "by its address: it has taken its own name"


def test_a_removed_nodes_number_goes_to_the_next_one_and_the_others_keep_theirs() -> None:
    cluster = Cluster("i", "c")
    for name in ("a", "b", "c"):
        cluster = cluster.with_node(NodeEntry(name, name))
    cluster = cluster.without_node("b").with_node(NodeEntry("d", "d"))
    assert {n.name: n.number for n in cluster.nodes} == {"a": 1, "c": 3, "d": 2}
