"""Jobs live in their keepers: they survive the daemon, and their end is known to the next one."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine.agent.support import Desktop, Failed, Node, eventually, is_alive
from engine.agent.test_attach import _archive


async def _start(desktop: Desktop, code: str, **more: Any) -> dict[str, Any]:
    answer = await desktop.call("job.start", {"name": "Test job", "argv": [sys.executable, "-c", code], **more})
    assert isinstance(answer, dict)
    return answer


async def _ended(desktop: Desktop, job_id: str) -> dict[str, Any]:
    async def over() -> bool:
        return bool((await desktop.call("job.status", {"job_id": job_id}))["state"] != "running")

    await eventually(over)
    answer = await desktop.call("job.status", {"job_id": job_id})
    assert isinstance(answer, dict)
    return answer


async def test_a_job_runs_with_its_words_its_environment_and_an_exit_code(node: Node) -> None:
    desktop = await Desktop.attach(node)
    code = "import os, sys; print(os.environ['TOKEN'], os.getcwd(), sys.argv[1:]); sys.exit(7)"
    job = await desktop.call(
        "job.start", {"name": "one", "argv": [sys.executable, "-c", code, "ä b"], "env": {"TOKEN": "s3cret"}}
    )
    assert job["job_id"].startswith("one-")
    end = await _ended(desktop, job["job_id"])
    assert (end["state"], end["exit_code"]) == ("exited", 7)
    assert end["ended_at"] >= end["started_at"]
    log = await desktop.call("job.log", {"job_id": job["job_id"], "offset": 0, "limit": 1000})
    assert log["text"] == f"s3cret {node.home} ['ä b']\n"
    assert log["end"] == log["size"] == len(log["text"].encode())
    kept = [p for p in (node.state_dir / "jobs").rglob("*") if p.is_file() and not p.name.startswith("log.")]
    assert all(b"s3cret" not in p.read_bytes() for p in kept)  # it is in its output because it printed it
    assert (await desktop.call("job.list"))["jobs"] == [end]
    await desktop.close()


async def test_what_a_job_reads_is_in_no_file_argument_or_environment(node: Node) -> None:
    desktop = await Desktop.attach(node)
    read = "print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest(), flush=True)"
    code = f"import hashlib, sys, time; {read}; time.sleep(60)"
    secret = "tok\u00e9n" * 40_000  # more than a pipe holds
    job = await _start(desktop, code, stdin=secret)

    async def digest() -> bool:
        log = await desktop.call("job.log", {"job_id": job["job_id"], "offset": 0, "limit": 1000})
        return bool(log["text"] == hashlib.sha256(secret.encode()).hexdigest() + "\n")

    await eventually(digest)
    for process in node.everything():
        assert b"tok\xc3\xa9n" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        assert b"tok\xc3\xa9n" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    kept = [p for p in node.home.rglob("*") if p.is_file() and not p.is_socket()]
    assert kept
    assert all(b"tok\xc3\xa9n" not in p.read_bytes() for p in kept)
    await desktop.call("job.stop", {"job_id": job["job_id"], "grace_s": 5})
    await desktop.close()


async def test_a_program_that_is_not_there_is_an_answer_and_leaves_nothing(node: Node) -> None:
    desktop = await Desktop.attach(node)
    with pytest.raises(Failed, match="no-such-program cannot be started"):
        await desktop.call("job.start", {"name": "x", "argv": ["no-such-program"]})
    with pytest.raises(Failed, match="No such file or directory"):
        await desktop.call("job.start", {"name": "x", "argv": [sys.executable], "cwd": "/no/such/place"})
    assert (await desktop.call("job.list"))["jobs"] == []
    assert node.daemons("keeper") == []
    await desktop.close()


async def test_a_job_survives_its_daemon_and_is_known_to_the_next_one(node: Node) -> None:
    desktop = await Desktop.attach(node)
    job = await _start(desktop, "import sys; sys.stdin.read(); import time; print('up', flush=True); time.sleep(600)")
    os.kill((await desktop.call("hello"))["pid"], signal.SIGKILL)
    await desktop.process.wait()
    await desktop.close()
    again = await Desktop.attach(node)
    assert (await again.call("job.status", {"job_id": job["job_id"]}))["state"] == "running"
    assert psutil.Process(job["pid"]).is_running()
    stopped = await again.call("job.stop", {"job_id": job["job_id"], "grace_s": 5})
    assert (stopped["state"], stopped["exit_code"]) == ("exited", -signal.SIGTERM)
    await again.close()


async def test_replacing_the_agent_stops_no_job(node: Node) -> None:
    desktop = await Desktop.attach(node)
    job = await _start(desktop, "import time; time.sleep(600)")
    node.command, node.extra_environment = _archive(node), {}
    new = await Desktop.attach(node)
    await desktop.process.wait()
    assert (await new.call("job.status", {"job_id": job["job_id"]}))["state"] == "running"
    assert (await new.call("sample.latest"))["jobs_running"] == 1
    await new.call("job.stop", {"job_id": job["job_id"], "grace_s": 5})
    for one in (desktop, new):
        await one.close()


async def test_a_job_that_ignores_the_request_is_ended_with_all_its_children(node: Node) -> None:
    desktop = await Desktop.attach(node)
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)"
    )
    job = await _start(desktop, code)

    async def printed() -> bool:
        return (await desktop.call("job.log", {"job_id": job["job_id"]}))["text"].endswith("\n")

    await eventually(printed)
    child = psutil.Process(int((await desktop.call("job.log", {"job_id": job["job_id"]}))["text"]))
    stopped = await desktop.call("job.stop", {"job_id": job["job_id"], "grace_s": 0.3})
    assert (stopped["state"], stopped["exit_code"]) == ("exited", -signal.SIGKILL)
    await eventually(lambda: not is_alive(child))
    await eventually(lambda: not node.daemons("keeper"))
    await desktop.close()


async def test_a_job_whose_keeper_was_killed_is_lost_and_does_not_run_on(node: Node) -> None:
    desktop = await Desktop.attach(node)
    job = await _start(desktop, "import time; time.sleep(600)")
    child = psutil.Process(job["pid"])
    node.daemons("keeper")[0].kill()
    end = await _ended(desktop, job["job_id"])
    assert (end["state"], end["exit_code"]) == ("lost", None)
    await eventually(lambda: not is_alive(child))
    await desktop.close()


async def test_a_job_with_a_limited_life_ends(node: Node) -> None:
    desktop = await Desktop.attach(node)
    job = await _start(desktop, "import time; time.sleep(600)", lifetime_s=0.4)
    assert (await _ended(desktop, job["job_id"]))["exit_code"] == -signal.SIGKILL
    await desktop.close()


async def test_a_long_log_is_bounded_and_read_in_pieces_without_colour_codes(node: Node) -> None:
    desktop = await Desktop.attach(node)
    code = (
        "import sys\n"
        "for i in range(240_000): sys.stdout.write(f'\\x1b[31mline {i:08d}\\x1b[0m {\"ä\" * 40}\\n')\n"
        "print('the end')"
    )
    job = await _start(desktop, code)
    end = await _ended(desktop, job["job_id"])
    assert end["exit_code"] == 0
    kept = sum(p.stat().st_size for p in (node.state_dir / "jobs" / job["job_id"]).glob("log.*"))
    assert kept < 5 * 4 * 1024 * 1024
    first = await desktop.call("job.log", {"job_id": job["job_id"], "offset": 0, "limit": 100_000})
    assert first["offset"] > 0  # the oldest is gone, and it says so
    text, position = first["text"], first["end"]
    while position < first["size"]:
        piece = await desktop.call("job.log", {"job_id": job["job_id"], "offset": position, "limit": 1_000_000})
        assert piece["offset"] == position < piece["end"]
        text, position = text + piece["text"], piece["end"]
    lines = text.splitlines()
    assert lines[-1] == "the end"
    numbers = [int(line.split()[1]) for line in lines[1:-1]]
    assert numbers == list(range(numbers[0], 240_000))
    assert "\x1b" not in text
    tail = await desktop.call("job.log", {"job_id": job["job_id"], "offset": -8, "limit": 100})
    assert tail["text"] == "the end\n"
    await desktop.close()


async def test_without_room_on_the_disk_a_job_goes_on_and_its_exit_is_known(node: Node) -> None:
    limit = (
        "import os, resource as r, sys; r.setrlimit(r.RLIMIT_FSIZE, (9000,) * 2); os.execv(sys.argv[1], sys.argv[1:])"
    )
    node.command = [sys.executable, "-c", limit, *node.command]
    desktop = await Desktop.attach(node)
    job = await _start(desktop, "for i in range(100_000): print('x' * 80)\nimport sys; sys.exit(3)")
    end = await _ended(desktop, job["job_id"])
    assert (end["state"], end["exit_code"]) == ("exited", 3)
    await desktop.close()
