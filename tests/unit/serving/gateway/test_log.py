"""The log never holds up the gateway: not by a reader that does not read, not by a full disk, not by a deleted file."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import sys
from pathlib import Path

import pytest

from stellwerk.serving.gateway import log as module
from stellwerk.serving.gateway.log import RequestLog
from stellwerk.serving.gateway.log_sink import tell

_TEXT = "x" * 900
pytestmark = pytest.mark.timeout(20)  # what waits for a reader here waits for ever


def _fill(log: RequestLog, lines: int) -> None:
    for number in range(lines):
        log.event("test", number=number, text=_TEXT)
        if number % 100 == 99:
            log.flush()
    log.flush()


def test_a_fifo_without_a_reader_loses_lines_and_waits_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 200_000)
    path = tmp_path / "log"
    os.mkfifo(path)
    log = RequestLog(str(path))
    _fill(log, 2000)
    assert 1000 < log.lost < 2000
    log.close()


async def test_a_reader_that_comes_late_gets_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    os.mkfifo(path)
    log = RequestLog(str(path))
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    _fill(log, 1000)
    got = bytearray()
    async with asyncio.timeout(15):
        while got.count(b"\n") < 1000:
            try:
                got += os.read(reader, 1 << 20)
            except BlockingIOError:
                await asyncio.sleep(0)
    assert log.lost == 0
    assert [json.loads(line)["number"] for line in got.splitlines()] == list(range(1000))
    log.close()
    os.close(reader)


def test_standard_error_that_nobody_reads_stays_as_it_is_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        log = RequestLog("-")
        _fill(log, 200)
        assert not fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK
        for _ in range(2):
            tell("The end must not wait either.")
        assert os.read(reader, 100).startswith(b'{"time"')
        log.close()
    os.close(reader)


def test_a_full_disk_loses_lines_and_the_line_that_was_cut_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RequestLog(str(tmp_path / "log"))
    real, room = os.write, 1500

    def write(descriptor: int, data: bytes) -> int:
        nonlocal room
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(descriptor, bytes(data[:room]))
        room -= written
        return written

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(module, "_MOST_WAITING", 20_000)
    _fill(log, 1000)
    assert log.lost > 500
    room = 10_000_000
    log.event("again")
    log.flush()
    log.close()
    lines = (tmp_path / "log").read_text().splitlines()
    assert all(line.startswith("{") and line.endswith("}") for line in lines)
    assert len(lines) + log.lost == 1001


def test_a_deleted_file_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = RequestLog(str(path))
    path.unlink()
    _fill(log, 200)
    assert log.lost == 0
    log.close()
