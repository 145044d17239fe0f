"""The algorithms, as functions that write a schedule.

With n ranks and m bytes (steps that depend on each other, bytes that leave one rank):

=================== ============= ==================== =========================================
algorithm           steps         bytes                good for
=================== ============= ==================== =========================================
direct              1             (n-1) m              small messages where distance counts
two_shot            2             2 m (n-1)/n          large messages in a full mesh
recursive_doubling  log2 n        m log2 n             small messages where processor time counts
ring                2 (n-1)       2 m (n-1)/n          large messages, only neighbours are near
relay               n/2           m n/2 per direction  small messages on a ring of four or more
=================== ============= ==================== =========================================

Sums are made in a fixed order, so all ranks hold the same bits: in rank order for direct, two_shot and relay, along the
ring or the tree for the others. Half types travel as float32 partial sums wherever an algorithm adds more than once.
"""

from __future__ import annotations

from collections.abc import Callable

from stellwerk.collectives.all_reduce import (
    all_reduce_direct,
    all_reduce_recursive_doubling,
    all_reduce_relay,
    all_reduce_ring,
    all_reduce_two_shot,
    reduce_arrived,
    reduce_scatter_step,
    relay,
    ring_reduce,
    ring_spread,
)
from stellwerk.collectives.kinds import Algorithm, Operation
from stellwerk.collectives.schedule import Schedule
from stellwerk.collectives.writing import INPUT, OUTPUT, Call, Part, Writer, chunks, split


def _all_gather_direct(w: Writer, part: Part) -> None:
    b, count, size = w.b, w.call.count, part.count * w.size
    for peer in b.peers:
        b.recv(peer, w.output(peer * count + part.start), size)
    b.send(b.peers, w.input(part.start), size)
    b.copy(w.output(b.rank * count + part.start), w.input(part.start), size)
    for peer in b.peers:
        b.take(peer, w.output(peer * count + part.start), size)


def _all_gather_ring(w: Writer, part: Part) -> None:
    parts = [Part(r * w.call.count + part.start, part.count) for r in range(w.b.ranks)]
    w.b.copy(w.output(parts[w.b.rank].start), w.input(part.start), part.count * w.size)
    ring_spread(w, parts, first=w.b.rank)


def _all_gather_relay(w: Writer, part: Part) -> None:
    places = [w.output(r * w.call.count + part.start) for r in range(w.b.ranks)]
    w.b.copy(places[w.b.rank], w.input(part.start), part.count * w.size)
    relay(w, places[w.b.rank], places, part.count * w.size)


def _reduce_scatter_direct(w: Writer, part: Part) -> None:
    parts = [Part(r * w.call.count + part.start, part.count) for r in range(w.b.ranks)]
    if part.start or part.count < w.call.count:
        w.b.flush()  # the output may lie in the input (in place), where an earlier chunk is still being sent
    reduce_scatter_step(w, w.output(part.start), parts)


def _reduce_scatter_ring(w: Writer, part: Part) -> None:
    parts = [Part(r * w.call.count + part.start, part.count) for r in range(w.b.ranks)]
    ring_reduce(w, parts, shift=0, finished=lambda _: w.output(part.start))


def _broadcast_direct(w: Writer, part: Part) -> None:
    b, root, size = w.b, w.call.root, part.count * w.size
    if b.rank == root:
        b.send(b.peers, w.output(part.start), size)
    else:
        b.recv(root, w.output(part.start), size)
        b.take(root, w.output(part.start), size)


def _broadcast_two_shot(w: Writer, part: Part) -> None:
    """The root deals out the parts, then everybody sends its part to everybody but the root."""
    b, root = w.b, w.call.root
    parts = split(part, b.ranks)
    own = parts[b.rank]
    if b.rank == root:
        for peer in b.peers:
            b.send([peer], w.output(parts[peer].start), parts[peer].count * w.size)
        b.send(b.peers, w.output(own.start), own.count * w.size)
        return
    others = [p for p in b.peers if p != root]
    b.recv(root, w.output(own.start), own.count * w.size)
    b.recv(root, w.output(parts[root].start), parts[root].count * w.size)
    for peer in others:
        b.recv(peer, w.output(parts[peer].start), parts[peer].count * w.size)
    b.take(root, w.output(own.start), own.count * w.size)
    b.send(others, w.output(own.start), own.count * w.size)
    b.take(root, w.output(parts[root].start), parts[root].count * w.size)
    for peer in others:
        b.take(peer, w.output(parts[peer].start), parts[peer].count * w.size)


def _broadcast_tree(w: Writer, part: Part) -> None:
    """A binomial tree: whoever has the data passes it on to the rank 1, 2, 4 ... further on."""
    b, n, root, size = w.b, w.b.ranks, w.call.root, part.count * w.size
    place = (b.rank - root) % n
    distance = 1
    while distance < n:
        if place < distance and place + distance < n:
            b.send([(b.rank + distance) % n], w.output(part.start), size)
        elif distance <= place < 2 * distance:
            b.recv((b.rank - distance) % n, w.output(part.start), size)
            b.take((b.rank - distance) % n, w.output(part.start), size)
        distance *= 2


def _broadcast_ring(w: Writer, part: Part) -> None:
    """A chain from the root to the right; chunks make it a pipeline."""
    b, n, size = w.b, w.b.ranks, part.count * w.size
    if b.rank != w.call.root:
        b.recv((b.rank - 1) % n, w.output(part.start), size)
        b.take((b.rank - 1) % n, w.output(part.start), size)
    if (b.rank + 1) % n != w.call.root:
        b.send([(b.rank + 1) % n], w.output(part.start), size)


def _reduce_direct(w: Writer, part: Part) -> None:
    b, size = w.b, part.count * w.size
    if b.rank != w.call.root:
        b.send([w.call.root], w.input(part.start), size)
        return
    for peer in b.peers:
        b.recv(peer, w.area(f"from {peer}", size), size)
    reduce_arrived(w, w.output(part.start), w.input(part.start), part.count)


def _gather_direct(w: Writer, part: Part) -> None:
    b, count, size = w.b, w.call.count, part.count * w.size
    if b.rank != w.call.root:
        b.send([w.call.root], w.input(part.start), size)
        return
    for peer in b.peers:
        b.recv(peer, w.output(peer * count + part.start), size)
    b.copy(w.output(b.rank * count + part.start), w.input(part.start), size)
    for peer in b.peers:
        b.take(peer, w.output(peer * count + part.start), size)


def _scatter_direct(w: Writer, part: Part) -> None:
    b, root, count, size = w.b, w.call.root, w.call.count, part.count * w.size
    if b.rank != root:
        b.recv(root, w.output(part.start), size)
        b.take(root, w.output(part.start), size)
        return
    for peer in b.peers:
        b.send([peer], w.input(peer * count + part.start), size)
    b.copy(w.output(part.start), w.input(b.rank * count + part.start), size)


def _all_to_all_direct(w: Writer, part: Part) -> None:
    b, count, size = w.b, w.call.count, part.count * w.size
    for peer in b.peers:
        b.recv(peer, w.output(peer * count + part.start), size)
    for peer in b.peers:
        b.send([peer], w.input(peer * count + part.start), size)
    b.copy(w.output(b.rank * count + part.start), w.input(b.rank * count + part.start), size)
    for peer in b.peers:
        b.take(peer, w.output(peer * count + part.start), size)


def _all_to_all_uneven(w: Writer) -> None:
    """Every pair its own length, known to both. Long messages go in pieces, round by round."""
    b, call = w.b, w.call
    piece = max(1, call.window_bytes // w.size // b.ranks)
    send_at = [sum(call.sends[:r]) for r in range(b.ranks)]
    recv_at = [sum(call.receives[:r]) for r in range(b.ranks)]
    b.copy(w.output(recv_at[b.rank]), w.input(send_at[b.rank]), call.sends[b.rank] * w.size)
    rounds = -(-max(*call.sends, *call.receives) // piece)
    for start in range(0, rounds * piece, piece):
        arriving = {p: max(0, min(piece, call.receives[p] - start)) for p in b.peers}
        for peer, count in arriving.items():
            b.recv(peer, w.output(recv_at[peer] + start), count * w.size)
        for peer in b.peers:
            count = max(0, min(piece, call.sends[peer] - start))
            b.send([peer], w.input(send_at[peer] + start), count * w.size)
        for peer, count in arriving.items():
            b.take(peer, w.output(recv_at[peer] + start), count * w.size)


def _barrier(w: Writer) -> None:
    """Dissemination: in round k, tell the rank 2^k further on, hear from the one 2^k before."""
    b, n, distance = w.b, w.b.ranks, 1
    while distance < n:
        b.recv((b.rank - distance) % n, OUTPUT, 0, empty=True)
        b.send([(b.rank + distance) % n], INPUT, 0, empty=True)
        b.wait((b.rank - distance) % n)
        b.release((b.rank - distance) % n)
        distance *= 2


def _barrier_ring(w: Writer) -> None:
    """Twice around, only between neighbours: when the second token comes, everybody has entered."""
    b, n = w.b, w.b.ranks
    left, right = (b.rank - 1) % n, (b.rank + 1) % n
    for _ in range(2 if n > 1 else 0):
        if b.rank != 0:
            b.recv(left, OUTPUT, 0, empty=True)
            b.wait(left)
            b.release(left)
        b.send([right], INPUT, 0, empty=True)
        if b.rank == 0:
            b.recv(left, OUTPUT, 0, empty=True)
            b.wait(left)
            b.release(left)


# ---- the table -------------------------------------------------------------------------------------------------------

ChunkWriter = Callable[[Writer, Part], None]

TABLE: dict[tuple[Operation, Algorithm], ChunkWriter] = {
    (Operation.ALL_REDUCE, Algorithm.DIRECT): all_reduce_direct,
    (Operation.ALL_REDUCE, Algorithm.TWO_SHOT): all_reduce_two_shot,
    (Operation.ALL_REDUCE, Algorithm.RING): all_reduce_ring,
    (Operation.ALL_REDUCE, Algorithm.RECURSIVE_DOUBLING): all_reduce_recursive_doubling,
    (Operation.ALL_REDUCE, Algorithm.RELAY): all_reduce_relay,
    (Operation.ALL_GATHER, Algorithm.DIRECT): _all_gather_direct,
    (Operation.ALL_GATHER, Algorithm.RING): _all_gather_ring,
    (Operation.ALL_GATHER, Algorithm.RELAY): _all_gather_relay,
    (Operation.REDUCE_SCATTER, Algorithm.DIRECT): _reduce_scatter_direct,
    (Operation.REDUCE_SCATTER, Algorithm.RING): _reduce_scatter_ring,
    (Operation.BROADCAST, Algorithm.DIRECT): _broadcast_direct,
    (Operation.BROADCAST, Algorithm.TWO_SHOT): _broadcast_two_shot,
    (Operation.BROADCAST, Algorithm.RECURSIVE_DOUBLING): _broadcast_tree,
    (Operation.BROADCAST, Algorithm.RING): _broadcast_ring,
    (Operation.REDUCE, Algorithm.DIRECT): _reduce_direct,
    (Operation.GATHER, Algorithm.DIRECT): _gather_direct,
    (Operation.SCATTER, Algorithm.DIRECT): _scatter_direct,
    (Operation.ALL_TO_ALL, Algorithm.DIRECT): _all_to_all_direct,
}

# Operations in which a rank has `ranks` messages of a chunk under way, instead of one.
_FANNED_OUT = {Operation.ALL_TO_ALL, Operation.SCATTER, Operation.REDUCE_SCATTER}
# In place, input and output of these are one buffer.
_ONE_BUFFER = {Operation.BROADCAST}


def algorithms_for(operation: Operation) -> list[Algorithm]:
    """The algorithms that can do an operation."""
    if operation is Operation.BARRIER:
        return [Algorithm.DIRECT, Algorithm.RING]
    return [algorithm for known, algorithm in TABLE if known is operation]


def _alone(w: Writer) -> None:
    """One rank: everything is a copy, and an average divides by one."""
    if w.call.operation not in _ONE_BUFFER and w.call.operation is not Operation.BARRIER:
        w.b.copy(OUTPUT, INPUT, w.call.count * w.size)


def build(call: Call) -> Schedule:
    """Write the schedule of one call for one rank. ValueError for a combination that does not exist."""
    w = Writer(call)
    if call.operation is Operation.BARRIER and call.algorithm is Algorithm.RING:
        _barrier_ring(w)
    elif call.operation is Operation.BARRIER:
        _barrier(w)
    elif call.ranks == 1:
        _alone(w)
    elif call.operation is Operation.ALL_TO_ALL and call.sends:
        _all_to_all_uneven(w)
    else:
        write = TABLE.get((call.operation, call.algorithm))
        if write is None:
            known = ", ".join(a.name.lower() for a in algorithms_for(call.operation))
            raise ValueError(
                f"{call.operation.name.lower()} has no algorithm {call.algorithm.name.lower()}; it has: {known}"
            )
        largest = call.window_bytes // w.wide_size // (call.ranks if call.operation in _FANNED_OUT else 1)
        for index, part in enumerate(chunks(call.count, largest)):
            if index:
                w.b.flush()  # the named scratch areas are used again
            write(w, part)
    return w.b.build()
