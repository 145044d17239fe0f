"""The collective benchmark: all_reduce by size and number of ranks, each algorithm and each rival in the same run.

All contenders of one number of ranks are started together and take turns, cell by cell, so that a busy moment of the
machine hits all of them. Ranks that wait for their turn sleep. A call counts with its slowest rank.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stellwerk.collectives.engine import Link
from stellwerk.collectives.kinds import Topology
from stellwerk.measure.collectives_rank import receive, send
from stellwerk.model.text import say

ALGORITHMS = ("direct", "two_shot", "recursive_doubling", "ring")
RIVALS = ("gloo", "ompi-tcp", "ompi-shm")
START_S = 60.0
CELL_S = 60.0


class MeasurementFailed(Exception):
    """The benchmark could not be run; the text says what was missing or who failed."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One line of the picture: a library, its transport, and an algorithm (None: its own choice)."""

    name: str
    group: str  # the processes that run it; several algorithms share them
    algorithm: str | None = None
    rival: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. Sizes in bytes."""

    ranks: tuple[int, ...] = (2, 4, 8)
    sizes: tuple[int, ...] = tuple(1 << p for p in range(10, 25, 2))
    transports: tuple[str, ...] = ("shm", "tcp")
    algorithms: tuple[str, ...] = ALGORITHMS
    rivals: tuple[str, ...] = RIVALS
    rounds: int = 3
    seconds_per_cell: float = 0.15
    link: Link = field(default_factory=Link)
    topology: Topology | None = None
    tuning: Path | None = None

    def __post_init__(self) -> None:
        if not self.ranks or min(self.ranks) < 2 or max(self.ranks) > 16:
            raise ValueError("measure with 2 to 16 ranks")
        if not self.sizes or min(self.sizes) < 4:
            raise ValueError("sizes are at least 4 bytes")


@dataclass(frozen=True, slots=True)
class Cell:
    """What one contender needs for one size. Times in µs, per call of the slowest rank."""

    contender: str
    ranks: int
    size: int
    median_us: float
    p99_us: float
    calls: int
    wrong: int

    @property
    def bus_gbytes_per_s(self) -> float:
        """Bus bandwidth as nccl-tests define it: size / time * 2 (n-1) / n."""
        return self.size / self.median_us / 1e3 * 2 * (self.ranks - 1) / self.ranks


@dataclass(frozen=True, slots=True)
class Result:
    """All cells of a run, and what could not be measured and why."""

    plan: Plan
    contenders: tuple[Contender, ...]
    cells: tuple[Cell, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    processors: int

    def cell(self, contender: str, ranks: int, size: int) -> Cell | None:
        """One cell, if it was measured."""
        for cell in self.cells:
            if (cell.contender, cell.ranks, cell.size) == (contender, ranks, size):
                return cell
        return None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the benchmark is."""

    done: int
    of: int
    what: str


def contenders_of(plan: Plan, missing: list[str]) -> list[Contender]:
    """Our transports and algorithms, and the rivals that this machine has; what it lacks goes to `missing`."""
    found = []
    for transport in plan.transports:
        names: list[str | None] = [None, *plan.algorithms]
        found += [Contender(f"{transport} {a or 'auto'}", f"stellwerk-{transport}", a) for a in names]
    if not plan.link.real and plan.rivals:
        missing.append("rivals are not measured on an emulated link: they cannot be held back")
        return found
    for rival in plan.rivals:
        why = _why_not(rival)
        if why:
            missing.append(f"{rival}: {why}")
        else:
            found.append(Contender(rival, rival, None, rival=True))
    return found


def _why_not(rival: str) -> str:
    if rival == "gloo":
        return "" if importlib.util.find_spec("torch") else "torch is not installed"
    if rival in ("ompi-tcp", "ompi-shm"):
        if not shutil.which("mpirun"):
            return "mpirun is not installed"
        return "" if importlib.util.find_spec("mpi4py") else "mpi4py is not installed"
    return "no such rival"


class Group:
    """The processes of one library with one transport, and a connection to each."""

    def __init__(self, name: str, ranks: int, plan: Plan, folder: Path) -> None:
        self.name, self.ranks = name, ranks
        self._plan, self._folder = plan, folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sockets: dict[int, socket.socket] = {}
        self._errors = folder / f"{name}-{ranks}.log"
        self.facts: dict[str, Any] = {}

    def start(self) -> None:
        """Start the processes and wait until all are ready. MeasurementFailed says who is not."""
        path = self._folder / f"{self.name}-{self.ranks}.sock"
        with socket.socket(socket.AF_UNIX) as listener, socket.create_server(("127.0.0.1", 0)) as rendezvous:
            listener.bind(str(path))
            listener.listen(self.ranks)
            self._launch(path, rendezvous)
            self._greet(listener, rendezvous)
        for rank, answer in enumerate(self._answers(START_S)):
            if "failed" in answer:
                raise MeasurementFailed(f"{self.name}, rank {rank} of {self.ranks}: {answer['failed']}")
            self.facts = answer["ready"] or self.facts

    def _launch(self, path: Path, rendezvous: socket.socket) -> None:
        command = [sys.executable, "-m", "stellwerk.measure.collectives_rank", str(path), self.name]
        with self._errors.open("wb") as errors:
            if self.name.startswith("ompi"):
                # vader is Open MPI's shared memory; without `self` a rank could not talk to itself
                transport = "tcp,self" if self.name == "ompi-tcp" else "vader,self"
                options = ["--oversubscribe", "--bind-to", "none", "--mca", "btl", transport, "--mca", "pml", "ob1"]
                if os.geteuid() == 0:
                    options.append("--allow-run-as-root")
                launch = ["mpirun", "-np", str(self.ranks), *options, *command]
                self._processes.append(_start(launch, errors.fileno(), ()))
                return
            for rank in range(self.ranks):
                handed = (rendezvous.fileno(),) if rank == 0 and self.name.startswith("stellwerk") else ()
                self._processes.append(_start([*command, str(rank)], errors.fileno(), handed))

    def _greet(self, listener: socket.socket, rendezvous: socket.socket) -> None:
        token = secrets.token_hex(32)
        deadline = time.monotonic() + START_S
        while len(self._sockets) < self.ranks:
            listener.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                sock, _ = listener.accept()
            except TimeoutError:
                raise MeasurementFailed(f"{self.name} did not start: {self._last_words()}") from None
            sock.settimeout(CELL_S)
            hello = receive(sock)
            self._sockets[hello["rank"]] = sock
        for rank, sock in self._sockets.items():
            send(sock, self._config(rank, rendezvous, token))

    def _config(self, rank: int, rendezvous: socket.socket, token: str) -> dict[str, Any]:
        plan = self._plan
        kind = self.name.split("-", maxsplit=1)[0].replace("ompi", "mpi")
        return {
            "kind": kind,
            "rank": rank,
            "ranks": self.ranks,
            "rendezvous": "tcp://{}:{}".format(*rendezvous.getsockname()),
            "listener": rendezvous.fileno(),
            "token": token,
            "transport": self.name.removeprefix("stellwerk-"),
            "delay_us": plan.link.delay_us,
            "gbps": plan.link.gbps,
            "topology": plan.topology,
            "tuning": str(plan.tuning) if plan.tuning else None,
            "store": str(self._folder / f"gloo-{self.ranks}"),
        }

    def _answers(self, seconds: float) -> list[Any]:
        answers: dict[int, Any] = {}
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for rank, sock in self._sockets.items():
                selector.register(sock, selectors.EVENT_READ, rank)
            while len(answers) < self.ranks:
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    late = sorted(set(range(self.ranks)) - set(answers))
                    raise MeasurementFailed(f"{self.name}: ranks {late} did not answer within {seconds:g} s")
                for key, _ in events:
                    selector.unregister(key.fileobj)
                    try:
                        answers[key.data] = receive(self._sockets[key.data])
                    except (OSError, EOFError) as error:
                        words = self._last_words()
                        raise MeasurementFailed(f"{self.name}: rank {key.data} died: {words}") from error
        return [answers[rank] for rank in range(self.ranks)]

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self._errors.read_text(errors="replace").strip().splitlines()
            if lines:
                return " ".join(lines[-3:])[-500:]
        return "it said nothing"

    def run(self, size: int, calls: int, algorithm: str | None) -> tuple[list[float], int]:
        """Time so many calls; returns the µs of the slowest rank per call, and the wrong elements of all ranks."""
        command = {"count": max(1, size // 4), "algorithm": algorithm, "calls": calls, "warm_up": 2 + calls // 10}
        for sock in self._sockets.values():
            send(sock, command)
        answers = self._answers(CELL_S)
        for rank, answer in enumerate(answers):
            if "failed" in answer:
                raise MeasurementFailed(f"{self.name}, rank {rank} of {self.ranks}: {answer['failed']}")
        slowest = [max(times) / 1e3 for times in zip(*(a["times_ns"] for a in answers), strict=True)]
        return slowest, sum(int(a["wrong"]) for a in answers)

    def stop(self) -> None:
        """End the processes: in good order, else by force."""
        for sock in self._sockets.values():
            sock.close()
        for process in self._processes:
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(command: list[str], errors: int, handed: tuple[int, ...]) -> subprocess.Popen[bytes]:
    # One thread per rank: more would compete with the other ranks for the processors.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, pass_fds=handed, env=environment
    )


@contextlib.contextmanager
def _groups(plan: Plan, ranks: int, names: list[str], missing: list[str]) -> Iterator[dict[str, Group]]:
    with tempfile.TemporaryDirectory(prefix="stellwerk-measure-") as folder:
        running: dict[str, Group] = {}
        try:
            for name in names:
                group = Group(name, ranks, plan, Path(folder))
                running[name] = group
                try:
                    group.start()
                except MeasurementFailed as error:
                    if name.startswith("stellwerk"):
                        raise
                    missing.append(str(error))
                    running.pop(name).stop()
            yield running
        finally:
            for group in running.values():
                group.stop()


def _calls_for(plan: Plan, first_us: float) -> int:
    """So many calls that a cell takes about its share of time, at least enough for a median."""
    return max(8, min(2000, int(plan.seconds_per_cell * 1e6 / max(first_us, 1.0))))


def measure(
    plan: Plan,
    on_progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Result:
    """Run the benchmark. MeasurementFailed if our own ranks fail; a failing rival is only left out.

    After `cancelled()` becomes true, the cells measured so far are returned.
    """
    missing: list[str] = []
    notes: list[str] = []
    contenders = contenders_of(plan, missing)
    cells: list[Cell] = []
    total = len(plan.ranks) * len(plan.sizes) * len(contenders)
    for ranks in plan.ranks:
        names = list(dict.fromkeys(c.group for c in contenders))
        on_progress(Progress(len(cells), total, say("starting {ranks} ranks", ranks=ranks)))
        with _groups(plan, ranks, names, missing) as groups:
            for group in groups.values():
                notes += [f"{ranks} ranks, {group.name}: {line}" for line in group.facts.get("lines", [])]
            for size in plan.sizes:
                if cancelled():
                    return _result(plan, contenders, cells, missing, notes)
                on_progress(Progress(len(cells), total, say("{ranks} ranks, {size} bytes", ranks=ranks, size=size)))
                cells += _measure_size(plan, groups, contenders, ranks, size)
    on_progress(Progress(total, total, "done"))
    return _result(plan, contenders, cells, missing, notes)


def _measure_size(
    plan: Plan, groups: dict[str, Group], contenders: list[Contender], ranks: int, size: int
) -> list[Cell]:
    """One size: a short look at everybody, then rounds in which the contenders take turns."""
    present = [c for c in contenders if c.group in groups]
    times: dict[str, list[float]] = {c.name: [] for c in present}
    wrong: dict[str, int] = {c.name: 0 for c in present}
    calls: dict[str, int] = {}
    for contender in present:
        first, bad = groups[contender.group].run(size, 3, contender.algorithm)
        calls[contender.name] = max(3, _calls_for(plan, statistics.median(first)) // plan.rounds)
        wrong[contender.name] += bad
    for turn in range(plan.rounds):
        # Forwards, then backwards: whoever comes first after a pause has cold caches.
        for contender in present if turn % 2 == 0 else reversed(present):
            measured, bad = groups[contender.group].run(size, calls[contender.name], contender.algorithm)
            times[contender.name] += measured
            wrong[contender.name] += bad
    return [
        Cell(name, ranks, size, statistics.median(t), sorted(t)[len(t) * 99 // 100], len(t), wrong[name])
        for name, t in times.items()
    ]


def _result(plan: Plan, contenders: list[Contender], cells: list[Cell], missing: list[str], notes: list[str]) -> Result:
    measured = {cell.contender for cell in cells}
    return Result(
        plan,
        tuple(c for c in contenders if c.name in measured),
        tuple(cells),
        tuple(dict.fromkeys(missing)),
        tuple(notes),
        len(os.sched_getaffinity(0)),
    )
