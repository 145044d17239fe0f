"""What the agent reads of the machine itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk_agent.probes import host
from stellwerk_agent.reading import Reader, clean, clean_text
from unit.agent import spark_tree

HP = """\
DGX_NAME=DGX Spark
DGX_PLATFORM=HP ZGX Nano G1n AI Station
DGX_OTA_VERSION=7.3.1
DGX_SERIAL_NUMBER=
"""


def test_the_last_update_in_dgx_release_wins_and_the_serial_is_not_taken() -> None:
    release = host.parse_dgx_release(spark_tree.DGX_RELEASE.splitlines())
    assert (release.name, release.swbuild_version, release.ota_version) == ("DGX Spark", "7.2.3", "7.5.0")
    assert "SECRET0001" not in repr(release)


def test_hps_unquoted_dgx_release_is_read_like_the_others() -> None:
    release = host.parse_dgx_release(HP.splitlines())
    assert (release.name, release.platform) == ("DGX Spark", "HP ZGX Nano G1n AI Station")
    assert release.ota_version == "7.3.1"
    assert release.swbuild_version is None


@given(st.lists(st.text(max_size=60), max_size=20))
def test_any_release_file_is_read_without_error(lines: list[str]) -> None:
    host.parse_dgx_release(lines)
    host.parse_meminfo(lines)
    host.parse_cpuinfo(lines)


@given(st.integers(0, 10**12))
def test_memory_comes_as_the_kernel_prints_it(kb: int) -> None:
    memory = host.parse_meminfo([f"MemTotal:       {kb} kB", "CmaTotal: 0 kB", "Nonsense"])
    assert (memory.total_kb, memory.cma_total_kb, memory.available_kb) == (kb, 0, None)


def test_the_two_kinds_of_arm_cores_are_named_and_counted(tmp_path: Path) -> None:
    reader = Reader(spark_tree.build(tmp_path))
    model, count = host.parse_cpuinfo(reader.lines("/proc/cpuinfo"))
    assert (model, count) == ("10 x Cortex-A725, 10 x Cortex-X925", 20)
    assert host.parse_cpuinfo(["processor : 0", "model name : Xeon", "processor : 1", "model name : Xeon"]) == (
        "Xeon",
        2,
    )
    assert host.parse_cpuinfo([]) == (None, None)


def test_the_node_id_is_stable_and_hides_the_machine_id(tmp_path: Path) -> None:
    reader = Reader(spark_tree.build(tmp_path / "a"))
    first = host.node_id(reader, tmp_path)
    assert first == host.node_id(reader, tmp_path)
    assert "0123456789" not in first
    (tmp_path / "a/etc/machine-id").write_text("ffffffffffffffffffffffffffffffff\n")
    assert host.node_id(reader, tmp_path) != first


def test_a_machine_without_machine_id_keeps_a_random_one(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "empty")
    first = host.node_id(reader, tmp_path)
    assert host.node_id(reader, tmp_path) == first
    (tmp_path / "node-id").unlink()
    assert host.node_id(reader, tmp_path) != first


def test_a_clock_that_is_off_is_seen_through_the_boot_time(tmp_path: Path) -> None:
    root = spark_tree.build(tmp_path)
    (root / "proc/stat").write_text("cpu 1 2 3 4\nbtime 1700000000\n")
    assert host.wall_time_s(Reader(root)) == pytest.approx(1700000000 + 1234.5)


def test_what_is_missing_is_none(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    assert host.product(reader) is None
    assert host.os_name(reader) is None
    assert host.uptime_s(reader) is None
    assert host.boot_id(reader) == ""
    assert [note.what for note in reader.notes] == ["/etc/os-release"]


@given(st.text())
def test_strings_from_machines_lose_control_characters_and_are_bounded(text: str) -> None:
    assert len(clean(text)) <= 512
    for result in (clean(text), clean_text(text)):
        assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in result)
        assert "\u202e" not in result
        result.encode()


def test_a_file_is_read_only_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("x" * 100_000)
    reader = Reader(tmp_path)
    assert len(reader.raw("/big", 1000)) == 1000
    assert reader.number("/big") is None
    assert len(reader.text("/big") or "") == 512
