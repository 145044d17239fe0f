"""Starts ranks as processes and collects what they return or raise.

A fork server that has imported the library makes a rank in milliseconds; nothing is inherited from pytest's process.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from stellwerk.collectives import Communicator

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["stellwerk.collectives", "numpy", "engine.collectives.programs"])
Program = Callable[..., Any]


@dataclass(frozen=True)
class Outcome:
    """How a rank ended: a value, or an error by class name, text and attributes; `seconds` since its program began."""

    rank: int
    value: Any = None
    error: str = ""
    text: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def _main(
    pipe: Connection,
    rank: int,
    ranks: int,
    port: int,
    listener: socket.socket | None,
    program: Program,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    prepare = options.pop("prepare", None)
    began = time.monotonic()
    try:
        if prepare is not None:
            options = prepare(rank, options) or options
        with Communicator.connect(rank, ranks, f"tcp://127.0.0.1:{port}", listener=listener, **options) as comm:
            pipe.send(("ready", os.getpid()))
            began = time.monotonic()
            value = program(comm, *arguments)
            pipe.send(("ended", Outcome(rank, value, seconds=time.monotonic() - began)))
    except BaseException as error:
        attributes = {k: v for k, v in vars(error).items() if isinstance(v, (int, str))}
        outcome = Outcome(rank, None, type(error).__name__, str(error), attributes, time.monotonic() - began)
        pipe.send(("ended", outcome))
        if not isinstance(error, Exception):
            raise


class Ranks:
    """Running ranks. Leaving the context kills what is left and checks that nothing stays behind."""

    def __init__(self, ranks: int, program: Program, *arguments: Any, **options: Any) -> None:
        options.setdefault("token", secrets.token_hex(16))
        listener = socket.create_server(("127.0.0.1", 0))
        self._pipes: list[Connection] = []
        self.processes = []
        self.outcomes: dict[int, Outcome] = {}
        self.ready: set[int] = set()
        with listener:
            for rank in range(ranks):
                ours, theirs = CONTEXT.Pipe(duplex=False)
                process = CONTEXT.Process(
                    target=_main,
                    args=(
                        theirs,
                        rank,
                        ranks,
                        listener.getsockname()[1],
                        listener if rank == 0 else None,
                        program,
                        arguments,
                        dict(options),
                    ),
                )
                process.start()
                theirs.close()
                self._pipes.append(ours)
                self.processes.append(process)

    def _receive(self, deadline: float) -> None:
        open_pipes = [pipe for pipe in self._pipes if not pipe.closed]
        left = deadline - time.monotonic()
        assert left > 0, f"ranks {sorted(set(range(len(self.processes))) - set(self.outcomes))} neither end nor fail"
        for pipe in wait(open_pipes, timeout=left):
            assert isinstance(pipe, Connection)
            try:
                kind, value = pipe.recv()
            except (EOFError, ConnectionResetError):
                pipe.close()
                continue
            if kind == "ready":
                self.ready.add(self._pipes.index(pipe))
            else:
                self.outcomes[value.rank] = value

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Wait until all ranks have their communicator."""
        deadline = time.monotonic() + seconds
        while len(self.ready) < len(self.processes) and not self.outcomes:
            self._receive(deadline)
        assert not self.outcomes or len(self.ready) == len(self.processes), self.outcomes

    def collect(self, but: frozenset[int] = frozenset(), seconds: float = 60.0) -> list[Outcome]:
        """Wait for the outcomes of all ranks, except for those that are not expected to have one."""
        deadline = time.monotonic() + seconds
        wanted = set(range(len(self.processes))) - but
        while not wanted <= set(self.outcomes):
            assert any(not self._pipes[r].closed for r in wanted - set(self.outcomes)), (
                f"ranks {sorted(wanted - set(self.outcomes))} died without a word"
            )
            self._receive(deadline)
        return [self.outcomes[r] for r in sorted(wanted)]

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.join(5.0 if process.pid is not None and self.outcomes else 0.1)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        for pipe in self._pipes:
            pipe.close()


def run(ranks: int, program: Program, *arguments: Any, **options: Any) -> list[Any]:
    """Run a program on n ranks and return the values; fails with every error if a rank failed."""
    with Ranks(ranks, program, *arguments, **options) as running:
        outcomes = running.collect()
    failed = [f"rank {o.rank}: {o.error}: {o.text}" for o in outcomes if o.error]
    assert not failed, "\n".join(failed)
    return [o.value for o in outcomes]
