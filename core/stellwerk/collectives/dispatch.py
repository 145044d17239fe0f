"""Which algorithm does a call: a table by operation, ranks, bytes, transport and topology.

A shipped table holds otherwise; `stellwerk measure collectives --tune` measures one for a cluster and stores it. All
ranks compare their tables at start, because ranks that choose differently would not understand each other.
"""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stellwerk.collectives.algorithms import algorithms_for
from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport

UNBOUNDED = 1 << 62
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Rule:
    """Up to so many bytes, this algorithm."""

    bytes_max: int
    algorithm: Algorithm


Rules = tuple[Rule, ...]


def rules(*pairs: tuple[int, Algorithm], above: Algorithm) -> Rules:
    """A row of the table."""
    return (*(Rule(limit, algorithm) for limit, algorithm in pairs), Rule(UNBOUNDED, above))


def crossover_bytes(ranks: int, gap_us: float = 70.0, gigabytes_per_s: float = 20.0) -> int:
    """Where a ring catches up with a direct exchange over a real network.

    The direct exchange saves `gap_us` of latency and moves (n-1)(1-2/n) times the bytes more than the ring:
    S = gap * B / ((n-1)(1-2/n)). For two ranks both move the same, so there is no limit.
    """
    if ranks <= 2:
        return UNBOUNDED
    return int(gap_us * 1e-6 * gigabytes_per_s * 1e9 / ((ranks - 1) * (1 - 2 / ranks)))


KIB = 1024


def shipped(transport: Transport, topology: Topology, ranks: int) -> dict[Operation, Rules]:
    """The table without a measurement."""
    direct, two_shot, ring, doubling, relay = (
        Algorithm.DIRECT,
        Algorithm.TWO_SHOT,
        Algorithm.RING,
        Algorithm.RECURSIVE_DOUBLING,
        Algorithm.RELAY,
    )
    table = {operation: rules(above=direct) for operation in Operation}
    table[Operation.BROADCAST] = rules((64 * KIB, direct), above=two_shot)
    if topology is Topology.RING:
        limit = crossover_bytes(ranks)
        table[Operation.ALL_REDUCE] = rules((limit, relay), above=ring)
        table[Operation.ALL_GATHER] = rules((limit, relay), above=ring)
        # RDMA reaches neighbours alone: what goes further travels over TCP and is later than a few hops.
        near = () if transport is Transport.VERBS else ((limit, direct),)
        table[Operation.REDUCE_SCATTER] = rules(*near, above=ring)
        table[Operation.BROADCAST] = rules(*near, above=ring)
        table[Operation.BARRIER] = rules(above=direct)
    elif topology is Topology.MESH:
        limit = crossover_bytes(ranks)
        table[Operation.ALL_REDUCE] = rules((limit, direct), above=two_shot)
    elif transport is Transport.SHM:
        limit = 16 * KIB if ranks == 2 else 12 * KIB if ranks < 6 else 4 * KIB
        table[Operation.ALL_REDUCE] = rules((limit, direct), above=two_shot)
    else:
        # On one machine the processor time per message decides: few messages first, few bytes later.
        limit = 48 * KIB if ranks == 2 else 32 * KIB
        table[Operation.ALL_REDUCE] = rules((limit, doubling), above=two_shot)
    return table


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The table of one communicator."""

    table: Mapping[Operation, Rules]
    source: str  # "shipped", or the file it came from

    def choose(self, operation: Operation, nbytes: int) -> Algorithm:
        """The algorithm for a call of so many bytes."""
        row = self.table[operation]
        return row[bisect_left(row, nbytes, key=lambda rule: rule.bytes_max)].algorithm

    def limits(self, operation: Operation) -> list[int]:
        """The sizes at which the algorithm changes."""
        return [rule.bytes_max for rule in self.table[operation] if rule.bytes_max < UNBOUNDED]

    def digest(self) -> str:
        """Equal on ranks that choose alike."""
        return hashlib.sha256(json.dumps(to_json(self.table), sort_keys=True).encode()).hexdigest()[:16]


def to_json(table: Mapping[Operation, Rules]) -> dict[str, list[list[object]]]:
    """Plain data: `{"all_reduce": [[32768, "direct"], [null, "two_shot"]]}`."""
    return {
        operation.name.lower(): [
            [None if rule.bytes_max == UNBOUNDED else rule.bytes_max, rule.algorithm.name.lower()] for rule in row
        ]
        for operation, row in table.items()
    }


def from_json(data: object) -> dict[Operation, Rules]:
    """Read what `to_json` wrote. ValueError with what is wrong."""
    if not isinstance(data, dict):
        raise ValueError("a dispatch table must be an object of operations")
    table: dict[Operation, Rules] = {}
    for name, row in data.items():
        try:
            read = tuple(
                Rule(UNBOUNDED if limit is None else int(limit), Algorithm[word.upper()]) for limit, word in row
            )
            operation = Operation[name.upper()]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ValueError(f"the dispatch row {name!r} cannot be read: {row!r}") from error
        able = algorithms_for(operation)
        for rule in read:
            if rule.algorithm not in able:
                known = ", ".join(algorithm.name.lower() for algorithm in able)
                raise ValueError(f"{name} has no algorithm {rule.algorithm.name.lower()}; it has: {known}")
        sizes = [rule.bytes_max for rule in read]
        if not sizes or sizes != sorted(set(sizes)) or sizes[-1] != UNBOUNDED:
            raise ValueError(f"the limits of the dispatch row {name!r} must grow and end with null")
        table[operation] = read
    return table


def tuning_file() -> Path:
    """Where tuned tables are kept if no file is named."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "stellwerk" / "collectives-tuning.json"


def key_of(transport: Transport, topology: Topology, ranks: int) -> str:
    """The name of a table in the file."""
    return f"{transport}/{topology}/{ranks}"


def load(transport: Transport, topology: Topology, ranks: int, path: Path | None = None) -> Dispatch:
    """The tuned table if there is one, else the shipped one. ValueError for a file that cannot be read."""
    path = path or tuning_file()
    table = shipped(transport, topology, ranks)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Dispatch(table, "shipped")
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"the tuning file {path} cannot be read: {error}. Remove it, or measure again.") from error
    if not isinstance(stored, dict) or stored.get("format") != FORMAT or not isinstance(stored.get("tables"), dict):
        raise ValueError(f"the tuning file {path} is of another version. Remove it, or measure again.")
    row = stored["tables"].get(key_of(transport, topology, ranks))
    if row is None:
        return Dispatch(table, "shipped")
    try:
        return Dispatch({**table, **from_json(row)}, str(path))
    except ValueError as error:
        raise ValueError(f"the tuning file {path} cannot be used: {error}. Remove it, or measure again.") from error


def store(
    transport: Transport, topology: Topology, ranks: int, table: Mapping[Operation, Rules], path: Path | None = None
) -> Path:
    """Put a measured table into the file, beside those of other clusters."""
    path = path or tuning_file()
    tables: dict[str, object] = {}
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(stored, dict) and stored.get("format") == FORMAT and isinstance(stored.get("tables"), dict):
            tables = stored["tables"]
    except (OSError, ValueError, RecursionError):
        tables = {}  # a broken file is replaced by a good one
    tables[key_of(transport, topology, ranks)] = to_json(table)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(json.dumps({"format": FORMAT, "tables": tables}, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
    return path
