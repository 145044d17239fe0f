"""The checks inside the emulated machine: makes RDMA devices over dummy interfaces, runs ranks, a line per check.

Several ranks share a device; a device stands for a cable (or for the switch), because two soft-RoCE devices of one
network namespace do not reach each other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import rank_programs

from engine.collectives import programs
from engine.collectives.ranks import Outcome, Ranks
from stellwerk.collectives import Topology

INFINIBAND = Path("/sys/class/infiniband")
PATIENCE_S = 300.0  # under emulation, with other work on the host
MTU = "4500"  # room for RDMA packets of 4096 bytes
ALGORITHMS = (None, "direct", "two_shot", "ring", "recursive_doubling")
SWITCH = {"transport": "verbs", "rails": ("half-a",), "setup_timeout_s": PATIENCE_S}
BOTH = SWITCH | {"rails": ("half-a", "half-b")}
ON_RING = SWITCH | {"topology": Topology.RING, "prepare": rank_programs.on_the_ring}

Check = Callable[[], str]
CHECKS: list[tuple[str, Check]] = []


def check(name: str) -> Callable[[Check], Check]:
    """Register a check; it returns what to say of it."""

    def register(function: Check) -> Check:
        CHECKS.append((name, function))
        return function

    return register


# ---- the machine -----------------------------------------------------------------------------------------------------


def tool(*words: str) -> None:
    """Run a program; RuntimeError with its own words if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that the kernel does in its own time."""
    deadline = time.monotonic() + 30.0
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not happen")
        time.sleep(0.05)


def gids(device: str) -> dict[int, str]:
    """The GIDs that a device has now."""
    found = {}
    for entry in (INFINIBAND / device / "ports" / "1" / "gids").iterdir():
        gid = entry.read_text(encoding="ascii").strip()
        if gid.replace(":", "").strip("0"):
            found[int(entry.name)] = gid
    return found


def rdma_device(name: str, *addresses: str) -> None:
    """A soft-RoCE device over a dummy interface with these addresses."""
    tool("ip", "link", "add", f"net-{name}", "type", "dummy")
    tool("ip", "link", "set", f"net-{name}", "mtu", MTU, "up")
    tool("rdma", "link", "add", name, "type", "rxe", "netdev", f"net-{name}")
    for number, address in enumerate(addresses, 1):
        tool("ip", "address", "add", address, "dev", f"net-{name}")
        until(lambda: len(gids(name)) > number, f"the GID of {address}")  # noqa: B023 - called at once


def make_devices() -> None:
    """Two halves of a switch, a ring of four with two halves per cable, and what is wrong."""
    tool("hostname", "soft-roce")
    tool("modprobe", "-a", "rdma_rxe", "ib_uverbs", "dummy")
    tool("ip", "link", "set", "lo", "up")
    rdma_device("half-a", "192.168.222.1/24", "192.168.100.1/24")
    tool("ip", "address", "del", "192.168.222.1/24", "dev", "net-half-a")  # so that the GID is not the first one
    until(lambda: 1 not in gids("half-a"), "the end of a GID")
    rdma_device("half-b", "192.168.101.1/24")
    for cable in range(rank_programs.RING):
        rdma_device(f"cable-{cable}a", f"10.1.{cable}.1/24")
        rdma_device(f"cable-{cable}b", f"10.2.{cable}.1/24")
    rdma_device("bare")
    rdma_device("twin-0", "10.99.0.1/24")
    rdma_device("twin-1", "10.99.0.2/24")


def packets(*devices: str) -> list[int]:
    """What each device has sent so far."""
    return [
        int((INFINIBAND / device / "ports" / "1" / "hw_counters" / "sent_pkts").read_text(encoding="ascii"))
        for device in devices
    ]


# ---- ranks -----------------------------------------------------------------------------------------------------------


def outcomes(ranks: int, *program: Any, **options: Any) -> list[Outcome]:
    """Run ranks to their end."""
    with Ranks(ranks, *program, **options) as running:
        return running.collect(seconds=PATIENCE_S)


def values(ranks: int, *program: Any, **options: Any) -> list[Any]:
    """What the ranks return; all must."""
    found = outcomes(ranks, *program, **options)
    failed = [f"rank {o.rank}: {o.error}: {o.text}" for o in found if o.error]
    assert not failed, "\n".join(failed)
    return [o.value for o in found]


def on_verbs(ranks: int, name: str, *arguments: Any, **options: Any) -> list[Any]:
    """As `values`; fails unless verbs carried it."""
    return values(ranks, rank_programs.on_verbs, name, *arguments, **options)


def exact_and_equal(ranks: int, algorithms: Iterable[str | None], **options: Any) -> str:
    """Exact sums; the same bits on all ranks, and again in a second run."""
    first, second = (set(on_verbs(ranks, name, tuple(algorithms), **options)) for name in ("exact", "rounded"))
    assert len(first) == 1, f"the ranks hold different bits: {first}"
    assert first == second, "another run gave other bits"
    return "exact, the same bits on all ranks and in two runs"


def all_name(found: list[Outcome], victim: int) -> str:
    """Every survivor raises PeerLost for the victim; what one of them says."""
    for outcome in found:
        assert outcome.error == "PeerLost", f"rank {outcome.rank}: {outcome.error}: {outcome.text}"
        assert outcome.attributes["rank"] == victim, f"rank {outcome.rank} names {outcome.attributes}"
    return f"{len(found)} survivors: {found[0].attributes['why']} ({max(o.seconds for o in found):.1f} s)"


def fall_back(ranks: int, because: str, **options: Any) -> str:
    """Every rank goes on over TCP and knows why."""
    said = values(ranks, programs.report, **(SWITCH | options))
    for report in said:
        assert report["transport"] == "tcp", report
        assert report["fallbacks"][0].startswith("verbs is off on every rank: "), report
        assert because in report["fallbacks"][0], report
    assert len({report["fallbacks"][0] for report in said}) == 1
    return str(said[0]["fallbacks"][0])


# ---- the checks ------------------------------------------------------------------------------------------------------


@check("the GID is looked for, at whatever index it is")
def _gid() -> str:
    (index,) = (index for index, gid in gids("half-a").items() if gid.endswith("ffff:c0a8:6401"))
    assert index > 1, "this check needs a GID that is not at the usual index"
    before = packets("half-a")
    on_verbs(2, "exact", (None,), **SWITCH)
    sent = packets("half-a")[0] - before[0]
    assert sent > 500, sent
    return f"index {index}; {sent} packets"


for _ranks in (2, 4, 8):

    @check(f"{_ranks} ranks: sums of awkward sizes by every algorithm")
    def _sums(ranks: int = _ranks) -> str:
        return exact_and_equal(ranks, ALGORITHMS, **SWITCH)

    @check(f"{_ranks} ranks: every operation, send and recv, asynchronous calls, sub-groups")
    def _operations(ranks: int = _ranks) -> str:
        on_verbs(ranks, "everything", **SWITCH)
        return "as they should be"


@check("two rails: both halves carry")
def _rails() -> str:
    before = packets("half-a", "half-b")
    said = exact_and_equal(4, ALGORITHMS, **BOTH)
    sent = [now - then for now, then in zip(packets("half-a", "half-b"), before, strict=True)]
    assert min(sent) > 500, sent
    return f"{said}; {sent[0]} and {sent[1]} packets"


@check("a ring of four: a device per neighbour and half")
def _ring() -> str:
    devices = [f"cable-{cable}{half}" for cable in range(rank_programs.RING) for half in "ab"]
    before = packets(*devices)
    said = exact_and_equal(rank_programs.RING, (None, "relay", "ring"), **ON_RING)
    values(rank_programs.RING, programs.every_operation, **ON_RING)
    sent = [now - then for now, then in zip(packets(*devices), before, strict=True)]
    assert min(sent) > 200, sent
    return f"{said}; {min(sent)} to {max(sent)} packets on {len(devices)} devices"


@check("a device that is not there")
def _no_device() -> str:
    return fall_back(3, "RDMA device nosuch not found; there are bare, ", prepare=rank_programs.second_names_no_device)


@check("a rank without a GID")
def _no_gid() -> str:
    return fall_back(4, "rank 2 (", prepare=rank_programs.third_has_no_gid)


@check("memory that may not be locked")
def _no_memory() -> str:
    return fall_back(3, "raise the limit of locked memory", prepare=rank_programs.second_may_lock_little)


@check("devices that no cable joins")
def _no_cable() -> str:
    return fall_back(2, "have no RDMA devices in a common subnet", prepare=rank_programs.other_subnets)


@check("one subnet, and nothing gets through")
def _wrong_cable() -> str:
    return fall_back(2, "nothing answers: wrong cable, subnet or GID?", prepare=rank_programs.wrong_cable)


for _ranks in (2, 4, 8):

    @check(f"{_ranks} ranks: one is killed")
    def _killed(ranks: int = _ranks) -> str:
        with Ranks(ranks, rank_programs.on_verbs, "until_it_fails", 2048, timeout_s=60.0, **SWITCH) as running:
            running.wait_ready(PATIENCE_S)
            victim = ranks // 2
            running.processes[victim].kill()
            return all_name(running.collect(but=frozenset({victim}), seconds=55.0), victim)


@check("4 ranks: one is stopped")
def _stopped() -> str:
    with Ranks(4, rank_programs.on_verbs, "until_it_fails", 2048, timeout_s=10.0, **SWITCH) as running:
        running.wait_ready(PATIENCE_S)
        pid = running.processes[1].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            return all_name(running.collect(but=frozenset({1}), seconds=60.0), 1)
        finally:
            os.kill(pid, signal.SIGCONT)


@check("another call on one rank")
def _mismatch() -> str:
    found = outcomes(4, programs.one_differs, 1, "shape", **SWITCH)
    for outcome in found:
        assert outcome.error == "CallMismatch", f"rank {outcome.rank}: {outcome.error}: {outcome.text}"
    return found[0].text


@check("a rail goes down under way")
def _rail_down() -> str:
    with Ranks(4, rank_programs.on_verbs, "until_it_fails", 70_001, timeout_s=30.0, **BOTH) as running:
        running.wait_ready(PATIENCE_S)
        start = packets("half-b")[0]
        until(lambda: packets("half-b")[0] > start + 50, "traffic on the second rail")
        tool("ip", "link", "set", "net-half-b", "down")
        found = running.collect(seconds=PATIENCE_S)
    for outcome in found:
        # The error may be seen a moment before the port says that it is down; then the peer is named instead.
        assert outcome.error in ("Aborted", "GaveUp", "PeerLost"), f"rank {outcome.rank}: {outcome.error}"
        assert "rail 1" in outcome.text, outcome.text
        assert "half-b" in outcome.text, outcome.text
    return f"no wrong sum; {max((o.text for o in found), key=len)}"


def main(wanted: list[str]) -> int:
    """Run the checks whose names hold one of the words, or all. The number of those that failed is the exit status."""
    began = time.monotonic()
    make_devices()
    print(f"the devices are there after {time.monotonic() - began:.1f} s")
    failed = 0
    for name, function in CHECKS:
        if wanted and not any(word in name for word in wanted):
            continue
        began = time.monotonic()
        try:
            said, good = function(), True
        except Exception:  # noqa: BLE001 - whatever it is, it is this check's result
            said, good = traceback.format_exc(), False
        failed += not good
        print(f"{'ok  ' if good else 'FAIL'} {time.monotonic() - began:6.1f} s  {name}: {said}", flush=True)
    print(f"{failed} of {len(CHECKS)} checks failed" if failed else "every check passed", flush=True)
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
