"""`stellwerk virtual …` as a person uses it: one process that stays, others that speak to it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stellwerk.cli.virtual import parse_fault, parse_pairs
from stellwerk.model.errors import BadInput


async def stellwerk(*words: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stellwerk.cli.main", *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def up(*words: str) -> AsyncIterator[dict[str, Any]]:
    """`stellwerk virtual up … --json -` until the block ends; then Ctrl+C."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "stellwerk.cli.main", "virtual", "up", *words, "--json", "-",
        stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        text = ""
        while not text.endswith("\n}\n"):
            line = (await process.stdout.readline()).decode()
            assert line, f"it ended: {text}"
            text += line
        yield json.loads(text)
    finally:
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0


async def test_up_shows_what_is_needed_to_log_in_and_ctrl_c_removes_everything() -> None:
    async with up("--nodes", "3", "--topology", "ring", "--fault", "half-13g@spark-2,port=1") as shown:
        directory = Path(shown["dir"])
        assert [node["name"] for node in shown["nodes"]] == ["spark-1", "spark-2", "spark-3"]
        assert all(node["password"] and node["host_key_fingerprint"].startswith("SHA256:") for node in shown["nodes"])
        where = ("--dir", str(directory))
        code, out, _ = await stellwerk("virtual", "cables", *where, "--json", "-")
        assert code == 0
        assert [c["ends"] for c in json.loads(out)["cables"]] == [
            ["spark-1:0", "spark-2:1"], ["spark-2:0", "spark-3:1"], ["spark-3:0", "spark-1:1"],
        ]  # fmt: skip
        code, out, _ = await stellwerk("virtual", "fault", "list", *where, "--json", "-")
        assert json.loads(out)["faults"] == [{"kind": "half-13g", "node": "spark-2", "state": "active", "port": 1}]
        code, out, _ = await stellwerk("virtual", "fault", "set", "clock-skew", "spark-3", "seconds=-30", *where)
        assert code == 0
        assert "clock-skew" in out
        assert "seconds=-30" in out
        code, _, _ = await stellwerk("virtual", "fault", "clear", "half-13g", *where)
        assert code == 0
        code, out, _ = await stellwerk("virtual", "load", "spark-1:0", "40", *where, "--json", "-")
        assert json.loads(out)["load_gbps"] == {"spark-1:0": 40.0}
        code, _, err = await stellwerk("virtual", "fault", "set", "nonsense", *where)
        assert code == 2
        assert "there is no fault 'nonsense'" in err
        assert "Traceback" not in err
        code, _, err = await stellwerk("virtual", "load", "spark-9", "40", *where)
        assert (code, "there is no node 'spark-9'" in err) == (2, True)
    assert not directory.exists()


async def test_every_fault_is_documented_on_the_command_line() -> None:
    from stellwerk.virtual.faults import KINDS

    code, out, _ = await stellwerk("virtual", "fault", "list", "--all", "--json", "-")
    assert code == 0
    shown = {kind["kind"]: kind["text"] for kind in json.loads(out)["kinds"]}
    assert set(shown) == set(KINDS)
    wanted = """cable-unplugged cable-wrong-port link-100g half-13g mtu-reset power-off reboot reinstall agent-killed
        disk-full sudo-wrong-password sudo-nopasswd sudo-none twins-one-subnet link-local-off foreign-netplan
        clock-skew ssh-drop"""
    assert set(wanted.split()) <= set(shown)
    assert all(len(text) > 10 for text in shown.values())


async def test_a_shape_that_cannot_be_ends_with_code_2_and_a_sentence() -> None:
    code, out, err = await stellwerk("virtual", "up", "--nodes", "2", "--topology", "ring")
    assert (code, out) == (2, "")
    assert "a ring needs three nodes or more" in err
    code, _, err = await stellwerk("virtual", "cables", "--dir", "/nonexistent")
    assert (code, "no virtual cluster runs in /nonexistent" in err) == (2, True)


def test_faults_are_written_short_on_the_command_line() -> None:
    assert parse_fault("reboot") == {"kind": "reboot", "node": None}
    assert parse_fault("half-13g@spark-2,port=1,half=A") == {
        "kind": "half-13g",
        "node": "spark-2",
        "port": 1,
        "half": "A",
    }
    assert parse_pairs(["after_s=0.5", "on_command=netplan generate"]) == {
        "after_s": 0.5, "on_command": "netplan generate",
    }  # fmt: skip
    for text in ("", "@spark-1", "reboot@", "reboot,port", "reboot,=1"):
        with pytest.raises(BadInput):
            parse_fault(text)
