"""The rank that runs on nodes: its listener, its table without a file, and a whole run of two on this computer."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from stellwerk.collectives import dispatch
from stellwerk.collectives.kinds import Topology, Transport
from stellwerk.collectives.rendezvous import TcpRendezvous
from stellwerk.measure.cluster_rank import Listeners, tuning_of

PLAN = {"sizes": [1024, 4096], "algorithms": ["direct", "ring"], "rounds": 2, "seconds_per_cell": 0.01}


def test_callers_on_any_address_are_heard() -> None:
    with Listeners(["127.0.0.1", "127.0.0.2"]) as listeners:
        listeners.settimeout(5.0)
        for address, port in listeners.ports.items():
            with socket.create_connection((address, port), timeout=5):
                caller, _ = listeners.accept()
                assert caller.getsockname()[:2] == (address, port)
                caller.close()
        listeners.settimeout(0.01)
        with pytest.raises(TimeoutError):
            listeners.accept()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", listeners.ports["127.0.0.1"]), timeout=5)


def test_a_rendezvous_over_several_addresses_lets_ranks_in_and_stops_listening() -> None:
    listeners = Listeners(["127.0.0.1", "127.0.0.2"])
    ports = dict(listeners.ports)
    deadline = time.monotonic() + 30.0

    def exchange(rank: int, address: str) -> list[int]:
        given = listeners if rank == 0 else None
        meeting = TcpRendezvous(rank, 3, (address, ports[address]), b"a secret", deadline, given)
        try:
            return meeting.exchange(rank, deadline)
        finally:
            meeting.close()

    with ThreadPoolExecutor(3) as pool:
        ranks = [pool.submit(exchange, rank, f"127.0.0.{max(1, rank)}") for rank in range(3)]
        assert [rank.result() for rank in ranks] == [[0, 1, 2]] * 3
    for place in ports.items():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(place, timeout=5)


def test_an_address_that_is_not_ours_leaves_no_listener() -> None:
    with pytest.raises(OSError, match="assign"):
        Listeners(["127.0.0.1", "192.0.2.1"])


def test_a_tuning_table_without_a_file_is_read_like_one(tmp_path: Path) -> None:
    table = {"all_reduce": [[None, "ring"]]}
    with tuning_of({"format": 1, "tables": {"tcp/mesh/2": table}}) as path:
        assert dispatch.load(Transport.TCP, Topology.MESH, 2, path).source == str(path)
        assert dispatch.load(Transport.TCP, Topology.MESH, 4, path).source == "shipped"
    assert not path.exists()


class Rank:
    """One rank as a process, with what it says."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stellwerk.measure.cluster_rank"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(config))
        self.process.stdin.close()

    def line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        said: dict[str, Any] = json.loads(self.process.stdout.readline())
        return said

    def rest(self) -> list[dict[str, Any]]:
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        lines = [json.loads(line) for line in self.process.stdout]
        self.errors = self.process.stderr.read()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()
        return lines


def config(rank: int, token: str, rendezvous: str | None, **more: Any) -> dict[str, Any]:
    # Fabric addresses that this computer does not have: the map says what to bind and dial.
    return {
        "rank": rank, "ranks": 2, "token": token, "address": f"10.9.9.{rank + 1}",
        "addresses": {str(1 - rank): f"10.9.9.{rank + 1}"},
        "dial": {"10.9.9.1": "127.0.0.1", "10.9.9.2": "127.0.0.2"},
        "rendezvous": rendezvous, "transport": "tcp", "topology": "mesh",
        "tuning": {"format": 1, "tables": {}}, "plan": PLAN, "rails": [],
        "timeout_s": 20.0, "setup_timeout_s": 30.0, **more,
    }  # fmt: skip


def test_two_ranks_measure_and_check_every_size_over_mapped_addresses() -> None:
    token = secrets.token_hex(16)
    first = Rank(config(0, token, None))
    ports = first.line()["ports"]
    assert set(ports) == {"10.9.9.1"}
    second = Rank(config(1, token, f"tcp://127.0.0.1:{ports['10.9.9.1']}"))
    said, other = first.rest(), second.rest()
    assert [line["stellwerk"] for line in said] == ["ready", "cells", "cells", "done"], first.errors
    assert [line["stellwerk"] for line in other] == ["ready", "done"], second.errors
    assert said[0]["transport"] == "tcp"
    cells = [cell for line in said if line["stellwerk"] == "cells" for cell in line["cells"]]
    assert [(c["algorithm"], c["size"]) for c in cells] == [
        (a, size) for size in (1024, 4096) for a in (None, "direct", "ring")
    ]
    assert all(c["wrong"] == 0 and c["median_us"] > 0 and c["p99_us"] >= c["median_us"] for c in cells)
    assert all(c["calls"] >= 6 for c in cells)


def test_a_stranger_with_another_token_is_refused_in_words() -> None:
    first = Rank(config(0, "right", None, setup_timeout_s=3.0))
    ports = first.line()["ports"]
    second = Rank(config(1, "wrong", f"tcp://127.0.0.1:{ports['10.9.9.1']}", setup_timeout_s=3.0))
    said, other = first.rest(), second.rest()
    assert other[-1]["stellwerk"] == "failed"
    assert "token" in other[-1]["text"]
    assert said[-1]["stellwerk"] == "failed"
    assert "rank 1 did not come in time" in said[-1]["text"]
    assert (first.process.returncode, second.process.returncode) == (1, 1)
    assert "Traceback" not in first.errors + second.errors
