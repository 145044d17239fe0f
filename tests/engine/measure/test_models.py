"""Models measured over real ranks: decoding, training, a rank that dies, Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys

import psutil
import pytest

from stellwerk.measure import decode
from stellwerk.measure.collectives import MeasurementFailed, Progress

pytest.importorskip("torch")
MARK = "STELLWERK_TEST_MARK"


def marked(mark: str) -> list[psutil.Process]:
    """Every process that was started with this mark, directly or not."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


async def command(*words: str, mark: str = "") -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stellwerk.cli.main", "measure", *words,
        stdout=pipe, stderr=pipe, env={**os.environ, MARK: mark},
    )  # fmt: skip


async def until(condition: object) -> None:
    async with asyncio.timeout(20):
        while not condition():  # type: ignore[operator]
            await asyncio.sleep(0.02)


async def test_decode_gives_the_tokens_of_one_rank_with_every_algorithm_and_gloo() -> None:
    tiny = ("--layers", "1", "--width", "24", "--heads", "3", "--tokens", "6", "--rounds", "1")
    process = await command("decode", "--ranks", "1,3", *tiny, "--json", "-")
    said, told = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, told.decode()
    figures = json.loads(said)
    assert [(x["ranks"], x["contender"]) for x in figures["lines"]] == [
        (1, "whole model"), *((3, c) for c in decode.CONTENDERS)
    ]  # fmt: skip
    assert all(x["right"] and x["parts_at"] == -1 and x["logits_apart"] < 1e-4 for x in figures["lines"])
    assert all(0 < x["reduce_share"] < 1 for x in figures["lines"][1:])
    assert len(figures["token_ids"]) == 6
    assert "All 6 token ids are those of one rank" in told.decode()


async def test_training_gives_the_same_bits_on_all_ranks_and_learns_like_one_rank_and_gloo() -> None:
    process = await command("training", "--ranks", "1,2", "--steps", "6", "--batch", "4", "--json", "-")
    said, told = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, told.decode()
    figures = json.loads(said)
    assert [(x["ranks"], x["backend"]) for x in figures["lines"]] == [(1, "none"), (2, "stellwerk"), (2, "gloo")]
    for line in figures["lines"]:
        assert line["same_bits"]
        assert line["losses"][-1] < line["losses"][0] - 0.2
        assert line["losses"] == pytest.approx(figures["lines"][0]["losses"], abs=1e-3)
        assert line["speed_up"] > 0
    assert all(x["buckets"] > 3 and x["apart"] < 1e-2 for x in figures["lines"][1:])
    assert figures["right"]
    assert "every rank ended with the same bits" in told.decode()


async def test_a_killed_rank_is_named_and_the_others_end() -> None:
    mark = secrets.token_hex(8)
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        if not killed:
            (launcher,) = [p for p in psutil.Process().children() if decode.MODULE in p.cmdline()]
            victim = launcher.children()[1]
            killed.append(victim.pid)
            victim.kill()

    endless = decode.Plan((2,), layers=2, width=64, heads=2, tokens=2000, rounds=50, contenders=("direct",))
    os.environ[MARK] = mark
    try:
        with pytest.raises(MeasurementFailed, match="rank 1"):
            await decode.measure(endless, kill)
    finally:
        del os.environ[MARK]
    assert killed
    await until(lambda: not marked(mark))


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_ending_the_command_leaves_no_process_behind(by: signal.Signals) -> None:
    mark = secrets.token_hex(8)
    tiny = ("--layers", "1", "--width", "16", "--heads", "2", "--algorithms", "direct")
    process = await command("decode", "--ranks", "2", *tiny, "--tokens", "2000", "--rounds", "5000", mark=mark)
    try:
        await until(lambda: len(marked(mark)) == 4)  # the command, what it starts, and two ranks
        process.send_signal(by)
        _, told = await asyncio.wait_for(process.communicate(), 20)
        if by is not signal.SIGKILL:
            assert process.returncode == 2, told.decode()
            assert "Cancelled" in told.decode()
            assert marked(mark) == []
        await until(lambda: not marked(mark))
    finally:
        for left in marked(mark):
            left.kill()
        await process.wait()


async def test_when_what_started_the_ranks_is_killed_they_end_and_the_command_says_so() -> None:
    mark = secrets.token_hex(8)
    tiny = ("--layers", "1", "--width", "16", "--heads", "2", "--algorithms", "direct")
    process = await command("decode", "--ranks", "2", *tiny, "--tokens", "2000", "--rounds", "5000", mark=mark)
    try:
        await until(lambda: len(marked(mark)) == 4)
        (launcher,) = psutil.Process(process.pid).children()
        launcher.kill()
        _, told = await asyncio.wait_for(process.communicate(), 20)
        assert process.returncode == 2
        assert "the ranks ended early" in told.decode()
        await until(lambda: not marked(mark))
    finally:
        for left in marked(mark):
            left.kill()
        await process.wait()
