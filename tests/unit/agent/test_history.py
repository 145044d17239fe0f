"""An hour of samples: bounded, in order, taken over by the next daemon."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.sample import NetCounters, Sample
from stellwerk_agent.history import History


def _sample(number: int) -> Sample:
    return Sample(number, number * 10**9, float(number), "boot", net={"e0": NetCounters(number, 0, 0, 0)})


def _fill(history: History, count: int) -> History:
    for number in range(1, count + 1):
        history.append(_sample(number))
    return history


@given(st.integers(0, 300), st.integers(0, 320))
def test_what_comes_after_a_number_is_given_in_order(count: int, after: int) -> None:
    history = _fill(History(kept=1000, group=60), count)
    assert [s["sequence"] for s in history.after(after)] == list(range(after + 1, count + 1))


def test_the_oldest_go_in_groups_and_the_newest_stay() -> None:
    history = _fill(History(kept=120, group=60), 500)
    numbers = [s["sequence"] for s in history.after(0)]
    assert numbers == list(range(numbers[0], 501))
    assert 120 <= len(numbers) <= 180


def test_an_answer_that_would_be_too_long_keeps_the_newest() -> None:
    history = _fill(History(), 500)
    found = history.after(0, budget_bytes=10_000)
    assert 0 < len(found) < 100
    assert found[-1]["sequence"] == 500


def test_an_hour_of_a_sparks_samples_is_small_and_fits_into_one_answer(tmp_path: Path) -> None:
    net = {f"enp{i}": NetCounters(10**15 + i, 10**15, 10**12, 10**12, carrier=True) for i in range(6)}
    history = History()
    for number in range(1, 3601):
        history.append(Sample(number, number, float(number), "b" * 36, 1, 2, 0.5, 1, 2, 3, net=net))
    assert len(history.after(0)) == 3600
    history.save(tmp_path / "history", "boot")
    assert (tmp_path / "history").stat().st_size < 2_000_000


def test_the_next_daemon_of_the_same_boot_takes_the_samples_over(tmp_path: Path) -> None:
    path = tmp_path / "history"
    _fill(History(group=60), 130).save(path, "boot-1")
    assert path.stat().st_mode & 0o777 == 0o600
    fresh = History(group=60)
    fresh.load(path, "boot-1")
    assert [s["sequence"] for s in fresh.after(100)] == list(range(101, 131))
    assert fresh.last_sequence == 130
    assert not path.exists()


def test_after_a_reboot_or_with_damage_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "history"
    _fill(History(), 70).save(path, "boot-1")
    good = path.read_bytes()
    for data, boot in (
        (good, "boot-2"),
        (good[:-20], "boot-1"),
        (b"", "boot-1"),
        (b"{}\nx", "boot-1"),
        (b"\xff\n", "boot-1"),
    ):
        path.write_bytes(data)
        history = History()
        history.load(path, boot)
        assert history.after(0) == []
    History().load(tmp_path / "missing", "boot")


def test_a_disk_without_room_leaves_no_half_file(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        History().save(tmp_path / "no" / "such" / "place", "boot")
