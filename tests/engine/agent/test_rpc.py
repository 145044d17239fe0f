"""The conversation: garbage, deadlines, progress, cancel, slow readers, the lock."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from engine.agent.support import Desktop, Failed, Node, eventually
from stellwerk import wire

GARBAGE = [
    b"\x00\xff\xfe\n",
    b"[]\n",
    b"{}\n",
    b'{"jsonrpc":"2.0","id":999}\n',
    b"{" * 5000 + b"\n",
    b'"text"\n',
    b"\n\n",
]


async def test_garbage_gets_an_error_and_the_conversation_goes_on(node: Node) -> None:
    desktop = await Desktop.attach(node)
    for line in GARBAGE:
        await desktop.send(line)
    await desktop.until(lambda: None in desktop.answers)
    assert desktop.answers[None]["error"]["code"] in (wire.PARSE_ERROR, wire.INVALID_REQUEST)
    assert (await desktop.call("hello"))["protocol"] == wire.PROTOCOL
    await desktop.close()


async def test_a_line_that_is_too_long_is_refused_and_the_conversation_goes_on(node: Node) -> None:
    rude, polite = await asyncio.gather(Desktop.attach(node), Desktop.attach(node))
    flood = asyncio.create_task(rude.send(b"x" * (3 * wire.MAX_LINE_BYTES) + b"\n"))
    await polite.call("hello")
    await rude.until(lambda: None in rude.answers)
    assert rude.answers[None]["error"]["code"] == wire.PARSE_ERROR
    await flood
    assert (await rude.call("hello"))["protocol"] == wire.PROTOCOL
    await rude.close()
    await polite.close()


WRONG_CALLS: list[tuple[str, dict[str, object], int, str]] = [
    ("no.such", {}, wire.METHOD_NOT_FOUND, "no method no.such"),
    ("verify.route", {}, wire.INVALID_PARAMS, "'destination' is missing"),
    ("verify.route", {"destination": 5}, wire.INVALID_PARAMS, "expected str"),
    ("verify.route", {"destination": "-h"}, wire.APPLICATION_ERROR, "no IP address"),
    ("hello", {"deadline_s": 0}, wire.INVALID_PARAMS, "deadline_s"),
    ("job.status", {"job_id": "../../etc"}, wire.APPLICATION_ERROR, "no job"),
]


async def test_a_wrong_call_is_answered_in_words(node: Node) -> None:
    desktop = await Desktop.attach(node)
    for method, params, code, text in WRONG_CALLS:
        with pytest.raises(Failed) as caught:
            await desktop.call(method, params)
        assert caught.value.code == code, method
        assert text in str(caught.value)
    await desktop.close()


SLOW_PING = """
import os, pathlib, time
pathlib.Path(os.environ["HOME"], "ping.pid").write_text(str(os.getpid()))
time.sleep(600)
"""


async def _ping_started(node: Node) -> int:
    path = node.home / "ping.pid"
    await eventually(lambda: path.exists() and path.read_text() != "")
    return int(path.read_text())


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


PING = {"destination": "10.0.0.9", "count": 1, "timeout_s": 500.0}


async def test_a_long_call_can_be_cancelled_and_its_program_ends(node: Node) -> None:
    node.program("ping", SLOW_PING)
    desktop = await Desktop.attach(node)
    request = await desktop.start("verify.ping", PING)
    pid = await _ping_started(node)
    await desktop.note("cancel", {"id": request})
    with pytest.raises(Failed) as caught:
        await desktop.answer(request)
    assert caught.value.data["code"] == "cancelled"
    await eventually(lambda: _gone(pid))
    await desktop.close()


async def test_a_call_that_is_cancelled_before_it_began_is_answered(node: Node) -> None:
    desktop = await Desktop.attach(node)
    lines = [wire.encode(wire.request(7, "facts", {})), wire.encode(wire.notification("cancel", {"id": 7}))]
    await desktop.send(b"".join(lines))
    with pytest.raises(Failed) as caught:
        await desktop.answer(7)
    assert caught.value.data["code"] == "cancelled"
    await desktop.close()


async def test_a_deadline_ends_the_call_and_its_program(node: Node) -> None:
    node.program("ping", SLOW_PING)
    desktop = await Desktop.attach(node)
    request = await desktop.start("verify.ping", {**PING, "deadline_s": 0.7})
    pid = await _ping_started(node)
    with pytest.raises(Failed) as caught:
        await desktop.answer(request)
    assert caught.value.data["code"] == "deadline"
    await eventually(lambda: _gone(pid))
    await desktop.close()


async def test_the_calls_of_a_desktop_that_goes_end_with_it(node: Node) -> None:
    node.program("ping", SLOW_PING)
    desktop = await Desktop.attach(node)
    await desktop.start("verify.ping", PING)
    pid = await _ping_started(node)
    await desktop.close()
    await eventually(lambda: _gone(pid))


async def test_a_desktop_that_does_not_read_delays_nobody_and_is_bounded(node: Node) -> None:
    other = await Desktop.attach(node)
    argv = [*node.command, "attach", *node.options]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=node.environment(), bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(wire.encode(wire.request(1, "sample.subscribe", {"rate_hz": 10.0})))
    daemon = node.daemons()[0]
    before = daemon.memory_info().rss
    calls = [wire.encode(wire.request(i, "no." + "x" * 200_000, {})) for i in range(2, 202)]
    # Each answer is as long as its question: 40 MB that nobody reads.
    await asyncio.to_thread(process.stdin.write, b"".join(calls))
    for _ in range(5):
        assert (await other.call("hello"))["pid"] == daemon.pid
    assert daemon.memory_info().rss - before < 120 * 1024 * 1024
    process.kill()
    process.stdin.close()
    process.stdout.close()
    process.wait()
    assert (await other.call("hello"))["pid"] == daemon.pid
    await other.close()


async def test_the_lock_names_its_holder_and_is_kept_over_a_short_loss(node: Node) -> None:
    first, second = await Desktop.attach(node), await Desktop.attach(node)
    assert await first.call("lock.take", {"desktop": "anna@desk", "force": False}) == {"holder": "anna@desk"}
    assert (await second.call("hello"))["holder"] == "anna@desk"
    with pytest.raises(Failed, match="held by anna@desk") as caught:
        await second.call("lock.take", {"desktop": "ben@laptop", "force": False})
    assert caught.value.data["code"] == "busy"
    await first.close()
    with pytest.raises(Failed, match="held by anna@desk"):
        await second.call("lock.take", {"desktop": "ben@laptop", "force": False})
    again = await Desktop.attach(node)
    assert await again.call("lock.take", {"desktop": "anna@desk", "force": False}) == {"holder": "anna@desk"}
    assert await second.call("lock.take", {"desktop": "ben@laptop", "force": True}) == {"holder": "ben@laptop"}
    await second.call("lock.release", {"desktop": "ben@laptop"})
    assert (await again.call("hello"))["holder"] is None
    await again.call("bye")
    await again.close()
    await second.close()


async def test_a_map_of_addresses_is_read_at_every_use(node: Node, tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"10.0.0.1": "127.77.0.10"}))
    desktop = await Desktop.attach(node, "--address-map", str(path))
    ask = {"addresses": ["10.0.0.1", "10.0.0.2"]}
    assert await desktop.call("address.map", ask) == {"addresses": {"10.0.0.1": "127.77.0.10", "10.0.0.2": "10.0.0.2"}}
    path.write_text(json.dumps({"10.0.0.2": "127.77.0.11"}))
    assert (await desktop.call("address.map", ask))["addresses"]["10.0.0.2"] == "127.77.0.11"
    path.write_text("[1")
    with pytest.raises(Failed, match="cannot be read"):
        await desktop.call("address.map", ask)
    await desktop.close()
