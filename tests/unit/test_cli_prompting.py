"""Questions on the terminal: they hold up nothing, and Ctrl-C ends them at once."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import termios
import threading

import pytest

from stellwerk.cli.prompting import ask


async def test_the_answer_comes_back_and_so_does_a_closed_input() -> None:
    assert await ask(lambda: "yes") == "yes"

    def closed() -> str:
        raise EOFError

    with pytest.raises(EOFError):
        await ask(closed)


async def test_other_work_goes_on_while_a_person_thinks() -> None:
    thought = threading.Event()
    question = asyncio.create_task(ask(lambda: thought.wait(30)))
    await asyncio.sleep(0)
    assert not question.done()
    thought.set()
    assert await question


def test_ctrl_c_at_a_password_ends_the_wait_and_gives_the_terminal_its_echo_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outer, inner = pty.openpty()
    never = threading.Event()
    asked = threading.Event()

    def typing() -> None:
        silent = termios.tcgetattr(inner)
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(inner, termios.TCSANOW, silent)
        asked.set()
        never.wait()

    async def run() -> None:
        question = asyncio.create_task(ask(typing))
        await asyncio.to_thread(asked.wait)
        question.cancel()
        await question

    with os.fdopen(inner, "r") as stdin, os.fdopen(outer, "wb"):
        monkeypatch.setattr(sys, "stdin", stdin)
        try:
            with pytest.raises(asyncio.CancelledError):
                asyncio.run(run())  # would wait for a thread of the loop's own pool
            assert termios.tcgetattr(stdin)[3] & termios.ECHO
        finally:
            never.set()
