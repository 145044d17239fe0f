"""The kill soak: ranks are killed, stopped, cut off and made to differ, again and again; every survivor must say who.

    python tests/bench/kill_soak.py [--rounds 100] [--ranks 2,4,8] [--transports shm,tcp]

After every round no process, no listening port and no shared-memory segment may be left. Prints a table of how long the
survivors took, and ends with 1 if anything was not as it must be.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from engine.collectives import programs
from engine.collectives.ranks import Outcome, Ranks

TIMEOUT_S = 1.0  # of a call, for the rounds that have to wait for it
CHANCE = random.Random(7)


def kill(ranks: int, transport: str) -> tuple[list[Outcome], int]:
    """SIGKILL at a random moment."""
    victim = CHANCE.randrange(ranks)
    with Ranks(ranks, programs.until_it_fails, transport=transport, self_test=False, timeout_s=30.0) as running:
        running.wait_ready()
        time.sleep(CHANCE.uniform(0, 0.02))  # the moment is what varies; nothing is waited for
        running.processes[victim].kill()
        return running.collect(but=frozenset({victim}), seconds=20), victim


def stop(ranks: int, transport: str) -> tuple[list[Outcome], int]:
    """SIGSTOP at a random moment: only the clock can tell."""
    victim = CHANCE.randrange(ranks)
    with Ranks(ranks, programs.until_it_fails, transport=transport, self_test=False, timeout_s=TIMEOUT_S) as running:
        running.wait_ready()
        time.sleep(CHANCE.uniform(0, 0.02))
        process = psutil.Process(running.processes[victim].pid)
        process.send_signal(signal.SIGSTOP)
        try:
            return running.collect(but=frozenset({victim}), seconds=30), victim
        finally:
            process.send_signal(signal.SIGKILL)


def cut(ranks: int, transport: str) -> tuple[list[Outcome], int]:
    """One rank's data connections are shut down under it."""
    victim = CHANCE.randrange(ranks)
    with Ranks(ranks, programs.cut_connection, victim, transport="tcp", self_test=False, timeout_s=30.0) as running:
        return running.collect(seconds=20), victim


def differ(ranks: int, transport: str) -> tuple[list[Outcome], int]:
    """One rank makes another call."""
    victim = CHANCE.randrange(ranks)
    how = CHANCE.choice(["shape", "type", "reduction", "operation"])
    with Ranks(
        ranks, programs.one_differs, victim, how, transport=transport, self_test=False, timeout_s=30.0
    ) as running:
        return running.collect(seconds=20), victim


KINDS: dict[str, Callable[[int, str], tuple[list[Outcome], int]]] = {
    "kill": kill,
    "stop": stop,
    "cut": cut,
    "differ": differ,
}


def verdict(kind: str, outcomes: list[Outcome], victim: int) -> str:
    """What is wrong with how the survivors ended, or nothing."""
    for outcome in outcomes:
        if kind in ("kill", "stop") and (outcome.error != "PeerLost" or outcome.attributes.get("rank") != victim):
            return f"rank {outcome.rank} says: {outcome.error}: {outcome.text}"
        if kind == "cut" and outcome.error not in ("PeerLost", "Aborted"):
            return f"rank {outcome.rank} says: {outcome.error}: {outcome.text}"
        if kind == "differ" and (outcome.error != "CallMismatch" or f"rank {victim}" not in outcome.text):
            return f"rank {outcome.rank} says: {outcome.error}: {outcome.text}"
    return ""


def shared_files() -> set[Path]:
    """Segments are files; a folder there belongs to simulated machines."""
    return {path for path in Path("/dev/shm").iterdir() if path.is_file()}


def left_behind(before: set[Path]) -> str:
    """Processes, listeners and segments that should be gone."""
    me = psutil.Process()
    zombies = [p.pid for p in me.children() if p.status() == psutil.STATUS_ZOMBIE]
    # Only the fork server and multiprocessing's tracker may be there; ranks are children of the fork server.
    ranks = [p.pid for child in me.children() for p in child.children()]
    listeners = [c for c in me.net_connections(kind="inet") if c.status == psutil.CONN_LISTEN]
    segments = shared_files() - before
    found = []
    if zombies or ranks:
        found.append(f"processes {zombies + ranks}")
    if listeners:
        found.append(f"listening ports {[c.laddr.port for c in listeners]}")
    if any("stellwerk" in s.name for s in segments):
        found.append(f"segments {[s.name for s in segments]}")
    return ", ".join(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--transports", default="shm,tcp")
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    before = shared_files()
    bad = 0
    for kind in options.kinds.split(","):
        for transport in options.transports.split(",") if kind != "cut" else ["tcp"]:
            for ranks in map(int, options.ranks.split(",")):
                slowest, began, wrong = 0.0, time.monotonic(), 0
                for number in range(options.rounds):
                    outcomes, victim = KINDS[kind](ranks, transport)
                    slowest = max(slowest, *(o.seconds for o in outcomes))
                    why = verdict(kind, outcomes, victim) or left_behind(before)
                    if why:
                        wrong += 1
                        print(f"  {kind}, {transport}, {ranks} ranks, round {number}, victim {victim}: {why}")
                good, took = options.rounds - wrong, time.monotonic() - began
                print(
                    f"{kind:7} {transport:4} {ranks} ranks: {good} of {options.rounds} rounds as they must be, "
                    f"slowest survivor {slowest:.2f} s after its start, {took:.0f} s in all",
                    flush=True,
                )
                bad += wrong
    print("nothing was left behind, every survivor named the rank" if not bad else f"{bad} rounds were wrong")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
