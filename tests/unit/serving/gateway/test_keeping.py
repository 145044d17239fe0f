"""A gateway that dies is started again; one that ends by itself, or is told to end, is not."""

from __future__ import annotations

import signal
import subprocess
import sys

SCRIPT = """
import os, signal, sys, time
from stellwerk.serving.gateway.keeping import Keeping

def run(again):
    print("again" if again else "first", flush=True)
    {body}

print("end", Keeping(run, 2, lambda how, pause_s: print("died", how, flush=True)).forever(), flush=True)
"""


def start(body: str) -> subprocess.Popen[str]:
    # In a process of its own: this one has threads, and forks badly.
    return subprocess.Popen([sys.executable, "-c", SCRIPT.format(body=body)], stdout=subprocess.PIPE, text=True)


def lines(body: str) -> list[str]:
    with start(body) as process:
        return process.communicate(timeout=30)[0].splitlines()


def test_who_is_killed_runs_again_and_who_ends_well_does_not() -> None:
    said = lines("return 0 if again else os.kill(os.getpid(), signal.SIGKILL)")
    assert said == ["first", "died signal SIGKILL", "again", "end 0"]


def test_a_mistake_is_a_death() -> None:
    assert lines("return 0 if again else 1 // 0") == ["first", "died exit code 70", "again", "end 0"]


def test_a_refusal_at_the_start_is_the_end() -> None:
    assert lines("return 2") == ["first", "end 2"]


def test_being_told_to_end_reaches_the_child_once_and_is_the_end() -> None:
    body = """
    told = []
    signal.signal(signal.SIGTERM, lambda *_: told.append(1))
    print("ready", flush=True)
    while not told:
        time.sleep(0.01)
    time.sleep(0.1)
    print("told", len(told), flush=True)
    return 5
    """
    with start(body) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["first\n", "ready\n"]
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[0].splitlines() == ["told 1", "end 5"]


def test_being_told_between_two_children_is_the_end_too() -> None:
    with start("os._exit(9)") as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("died"):
            continue
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30)[0].splitlines()[-1] == "end 0"


def test_being_told_while_a_child_is_being_made_reaches_it() -> None:
    body = """
    time.sleep(60)

real = os.fork
def fork():
    child = real()
    if child:
        os.kill(os.getpid(), signal.SIGTERM)
    return child
os.fork = fork
"""
    assert lines(body)[-1] == f"end {signal.SIGTERM:d}"
