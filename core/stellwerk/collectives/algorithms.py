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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stellwerk.collectives.kinds import Algorithm, DataType, Operation
from stellwerk.collectives.schedule import Builder, Operand, Schedule, Where

INPUT = Operand(Where.INPUT)
OUTPUT = Operand(Where.OUTPUT)
MESSAGE_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call as one rank sees it.

    `count` is in elements: of the whole vector for all_reduce, reduce and broadcast; of one rank's part for the others.
    `sends`/`receives` hold the elements per peer of an uneven all_to_all (else empty).
    `window_bytes` bounds what a rank may have under way: longer calls are cut into chunks of it.
    """

    operation: Operation
    algorithm: Algorithm
    rank: int
    ranks: int
    count: int
    dtype: DataType
    root: int = 0
    window_bytes: int = MESSAGE_BYTES_MAX
    sends: tuple[int, ...] = ()
    receives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of elements."""

    start: int
    count: int


def split(part: Part, ranks: int) -> list[Part]:
    """One nearly equal piece per rank, in whole cache lines where there is enough."""
    grain = 16 if part.count >= 16 * ranks else 1
    edges = [part.count * i // (ranks * grain) * grain for i in range(ranks)] + [part.count]
    return [Part(part.start + a, b - a) for a, b in pairwise(edges)]


def chunks(count: int, largest: int) -> Iterator[Part]:
    """Cut `count` elements into nearly equal chunks of at most `largest`."""
    pieces = max(1, -(-count // max(1, largest)))
    for i in range(pieces):
        start, end = count * i // pieces, count * (i + 1) // pieces
        yield Part(start, end - start)


class Writer:
    """A builder that counts in elements of one type."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.b = Builder(call.rank, call.ranks)
        self.size = call.dtype.bytes
        self.wide_size = call.dtype.wide.bytes
        self.wide = self.wide_size != self.size
        self._areas: dict[str, tuple[Operand, int]] = {}

    def area(self, name: str, size: int, wide: bool = False) -> Operand:
        """Scratch under a name: the chunks of one call use the same room again."""
        if name not in self._areas or self._areas[name][1] < size:
            self._areas[name] = (self.b.scratch(size, wide), size)
        return self._areas[name][0]

    def input(self, start: int) -> Operand:
        return INPUT.at(start * self.size)

    def output(self, start: int) -> Operand:
        return OUTPUT.at(start * self.size)


# ---- all_reduce ------------------------------------------------------------------------------------------------------


def _all_reduce_direct(w: Writer, part: Part) -> None:
    """Everybody sends everything to everybody and adds up alone."""
    b, size = w.b, part.count * w.size
    for peer in b.peers:
        b.recv(peer, w.area(f"from {peer}", size), size)
    b.send(b.peers, w.input(part.start), size)
    _reduce_arrived(w, w.output(part.start), w.input(part.start), part.count)


def _reduce_arrived(w: Writer, dst: Operand, own: Operand, count: int) -> None:
    """Add the awaited message of every peer and the own operand in rank order."""
    if not count:
        return
    b = w.b
    for peer in b.peers:
        b.wait(peer)
    b.flush()  # `dst` may be the memory that is being sent
    sources = [own if r == b.rank else Operand(Where.MESSAGE, 0, r) for r in range(b.ranks)]
    b.reduce(dst, sources, count, finish=True)
    for peer in b.peers:
        b.release(peer)


def _reduce_scatter_step(w: Writer, dst: Operand, parts: Sequence[Part]) -> None:
    """Send every peer its part of the input; add up the own part."""
    b, own = w.b, parts[w.b.rank]
    for peer in b.peers:
        b.recv(peer, w.area(f"from {peer}", own.count * w.size), own.count * w.size)
    for peer in b.peers:
        b.send([peer], w.input(parts[peer].start), parts[peer].count * w.size)
    if own.count == 0:
        return
    for peer in b.peers:
        b.wait(peer)
    # No flush: nobody else's part lies in `dst`, and the own part is sent to nobody.
    sources = [w.input(own.start) if r == b.rank else Operand(Where.MESSAGE, 0, r) for r in range(b.ranks)]
    b.reduce(dst, sources, own.count, finish=True)
    for peer in b.peers:
        b.release(peer)


def _spread_step(w: Writer, parts: Sequence[Part]) -> None:
    """Everybody sends its part of the output to everybody."""
    b, own = w.b, parts[w.b.rank]
    for peer in b.peers:
        b.recv(peer, w.output(parts[peer].start), parts[peer].count * w.size)
    b.send(b.peers, w.output(own.start), own.count * w.size)
    for peer in b.peers:
        b.take(peer, w.output(parts[peer].start), parts[peer].count * w.size)


def _all_reduce_two_shot(w: Writer, part: Part) -> None:
    parts = split(part, w.b.ranks)
    _reduce_scatter_step(w, w.output(parts[w.b.rank].start), parts)
    _spread_step(w, parts)


def _all_reduce_ring(w: Writer, part: Part) -> None:
    parts = split(part, w.b.ranks)
    _ring_reduce(w, parts, shift=1, finished=lambda p: w.output(parts[p].start))
    _ring_spread(w, parts, first=w.b.rank + 1)


def _ring_reduce(w: Writer, parts: Sequence[Part], shift: int, finished: Callable[[int], Operand]) -> None:
    """n-1 steps to the right, after which this rank holds part `rank + shift`, complete, at `finished(part)`."""
    b, n = w.b, w.b.ranks
    left, right = (b.rank - 1) % n, (b.rank + 1) % n
    most = max(p.count for p in parts)
    partial = w.input((parts[(b.rank + shift - 1) % n]).start)
    for step in range(n - 1):
        outgoing = parts[(b.rank + shift - 1 - step) % n]
        index = (b.rank + shift - 2 - step) % n
        incoming = parts[index]
        last = step == n - 2
        wide_in = w.wide and step > 0
        arriving = w.area(f"ring {step % 2}", most * w.wide_size)
        b.recv(left, arriving, incoming.count * (w.wide_size if wide_in else w.size))
        b.send([right], partial, outgoing.count * (w.wide_size if partial.wide else w.size))
        place = finished(index) if last else w.area(f"partial {step}", most * w.wide_size, w.wide)
        if incoming.count:
            message = b.wait(left)
            b.reduce(place, [Operand(Where.MESSAGE, 0, left, wide_in), w.input(incoming.start)], incoming.count, last)
            b.release(message.peer)
        partial = place


def _ring_spread(w: Writer, parts: Sequence[Part], first: int) -> None:
    """Pass complete parts of the output to the right; this rank begins with the part `first`."""
    b, n = w.b, w.b.ranks
    left, right = (b.rank - 1) % n, (b.rank + 1) % n
    for step in range(n - 1):
        outgoing, incoming = parts[(first - step) % n], parts[(first - step - 1) % n]
        b.recv(left, w.output(incoming.start), incoming.count * w.size)
        b.send([right], w.output(outgoing.start), outgoing.count * w.size)
        b.take(left, w.output(incoming.start), incoming.count * w.size)


def _all_reduce_recursive_doubling(w: Writer, part: Part) -> None:
    """Exchange partial sums with partners 1, 2, 4 ... away. Ranks beyond a power of two join their neighbour."""
    b, n, count = w.b, w.b.ranks, part.count
    if not count:
        return
    power = 1 << (n.bit_length() - 1)
    extra = n - power
    own, result = w.input(part.start), w.output(part.start)
    paired = b.rank < 2 * extra
    if paired and b.rank % 2:
        b.send([b.rank - 1], own, count * w.size)
        b.recv(b.rank - 1, result, count * w.size)
        b.take(b.rank - 1, result, count * w.size)
        return
    partial = own
    if paired:
        partial = w.area("sum of a pair", count * w.wide_size, w.wide)
        b.recv(b.rank + 1, w.area("doubling", count * w.wide_size), count * w.size)
        b.reduce(partial, [own, b.wait(b.rank + 1)], count, finish=False)
        b.release(b.rank + 1)
    place = b.rank // 2 if paired else b.rank - extra
    distance, turn = 1, 0
    while distance < power:
        other = place ^ distance
        peer = 2 * other if other < extra else other + extra
        wide = partial.wide
        size = count * (w.wide_size if wide else w.size)
        # A partner that came with its pair sends a wide sum in the first round already, one that came alone does not.
        wide_in = w.wide and (distance > 1 or other < extra)
        b.recv(peer, w.area(f"doubling {turn}", count * w.wide_size), count * (w.wide_size if wide_in else w.size))
        b.send([peer], partial, size)
        b.wait(peer)
        theirs = Operand(Where.MESSAGE, 0, peer, wide_in)
        last = distance * 2 == power
        after = result if last else w.area(f"sum {turn}", count * w.wide_size, w.wide)
        b.flush()
        b.reduce(after, [partial, theirs] if place < other else [theirs, partial], count, finish=last)
        b.release(peer)
        partial, distance, turn = after, distance * 2, 1 - turn
    if paired:
        b.send([b.rank + 1], result, count * w.size)


def _relay(w: Writer, own: Operand, places: Sequence[Operand], size: int) -> None:
    """Gather every rank's `size` bytes at `places[rank]` around a ring, in both directions at once.

    n/2 steps. On an even ring the opposite rank's bytes come half from either side.
    """
    b, n = w.b, w.b.ranks
    left, right = (b.rank - 1) % n, (b.rank + 1) % n
    half = size // 2
    for hop in range(1, n // 2 + 1):
        from_left, from_right = places[(b.rank - hop) % n], places[(b.rank + hop) % n]
        whole = 2 * hop < n
        first, second = (size, size) if whole else (half, size - half)
        skip = 0 if whole else half
        b.recv(left, from_left, first)
        b.recv(right, from_right.at(skip), second)
        if hop == 1 and whole:
            b.send([right, left] if left != right else [right], own, size)
        else:
            b.send([right], places[(b.rank - hop + 1) % n] if hop > 1 else own, first)
            b.send([left], (places[(b.rank + hop - 1) % n] if hop > 1 else own).at(skip), second)
        b.take(left, from_left, first)
        b.take(right, from_right.at(skip), second)


def _all_reduce_relay(w: Writer, part: Part) -> None:
    b, size = w.b, part.count * w.size
    if not part.count:
        return
    own = w.input(part.start)
    places = [own if r == b.rank else w.area(f"from {r}", size) for r in range(b.ranks)]
    _relay(w, own, places, size)
    b.flush()
    b.reduce(w.output(part.start), places, part.count, finish=True)


# ---- the other operations --------------------------------------------------------------------------------------------


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
    _ring_spread(w, parts, first=w.b.rank)


def _all_gather_relay(w: Writer, part: Part) -> None:
    places = [w.output(r * w.call.count + part.start) for r in range(w.b.ranks)]
    w.b.copy(places[w.b.rank], w.input(part.start), part.count * w.size)
    _relay(w, places[w.b.rank], places, part.count * w.size)


def _reduce_scatter_direct(w: Writer, part: Part) -> None:
    parts = [Part(r * w.call.count + part.start, part.count) for r in range(w.b.ranks)]
    if part.start or part.count < w.call.count:
        w.b.flush()  # the output may lie in the input (in place), where an earlier chunk is still being sent
    _reduce_scatter_step(w, w.output(part.start), parts)


def _reduce_scatter_ring(w: Writer, part: Part) -> None:
    parts = [Part(r * w.call.count + part.start, part.count) for r in range(w.b.ranks)]
    _ring_reduce(w, parts, shift=0, finished=lambda _: w.output(part.start))


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
    _reduce_arrived(w, w.output(part.start), w.input(part.start), part.count)


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
    (Operation.ALL_REDUCE, Algorithm.DIRECT): _all_reduce_direct,
    (Operation.ALL_REDUCE, Algorithm.TWO_SHOT): _all_reduce_two_shot,
    (Operation.ALL_REDUCE, Algorithm.RING): _all_reduce_ring,
    (Operation.ALL_REDUCE, Algorithm.RECURSIVE_DOUBLING): _all_reduce_recursive_doubling,
    (Operation.ALL_REDUCE, Algorithm.RELAY): _all_reduce_relay,
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
