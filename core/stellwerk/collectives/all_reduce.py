"""The ways to reduce everywhere, and the steps that other operations share with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stellwerk.collectives.schedule import Operand, Where
from stellwerk.collectives.writing import Part, Writer, split


def all_reduce_direct(w: Writer, part: Part) -> None:
    """Everybody sends everything to everybody and adds up alone."""
    b, size = w.b, part.count * w.size
    for peer in b.peers:
        b.recv(peer, w.area(f"from {peer}", size), size)
    b.send(b.peers, w.input(part.start), size)
    reduce_arrived(w, w.output(part.start), w.input(part.start), part.count)


def reduce_arrived(w: Writer, dst: Operand, own: Operand, count: int) -> None:
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


def reduce_scatter_step(w: Writer, dst: Operand, parts: Sequence[Part]) -> None:
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


def spread_step(w: Writer, parts: Sequence[Part]) -> None:
    """Everybody sends its part of the output to everybody."""
    b, own = w.b, parts[w.b.rank]
    for peer in b.peers:
        b.recv(peer, w.output(parts[peer].start), parts[peer].count * w.size)
    b.send(b.peers, w.output(own.start), own.count * w.size)
    for peer in b.peers:
        b.take(peer, w.output(parts[peer].start), parts[peer].count * w.size)


def all_reduce_two_shot(w: Writer, part: Part) -> None:
    parts = split(part, w.b.ranks)
    reduce_scatter_step(w, w.output(parts[w.b.rank].start), parts)
    spread_step(w, parts)


def all_reduce_ring(w: Writer, part: Part) -> None:
    parts = split(part, w.b.ranks)
    ring_reduce(w, parts, shift=1, finished=lambda p: w.output(parts[p].start))
    ring_spread(w, parts, first=w.b.rank + 1)


def ring_reduce(w: Writer, parts: Sequence[Part], shift: int, finished: Callable[[int], Operand]) -> None:
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


def ring_spread(w: Writer, parts: Sequence[Part], first: int) -> None:
    """Pass complete parts of the output to the right; this rank begins with the part `first`."""
    b, n = w.b, w.b.ranks
    left, right = (b.rank - 1) % n, (b.rank + 1) % n
    for step in range(n - 1):
        outgoing, incoming = parts[(first - step) % n], parts[(first - step - 1) % n]
        b.recv(left, w.output(incoming.start), incoming.count * w.size)
        b.send([right], w.output(outgoing.start), outgoing.count * w.size)
        b.take(left, w.output(incoming.start), incoming.count * w.size)


def all_reduce_recursive_doubling(w: Writer, part: Part) -> None:
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


def relay(w: Writer, own: Operand, places: Sequence[Operand], size: int) -> None:
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


def all_reduce_relay(w: Writer, part: Part) -> None:
    b, size = w.b, part.count * w.size
    if not part.count:
        return
    own = w.input(part.start)
    places = [own if r == b.rank else w.area(f"from {r}", size) for r in range(b.ranks)]
    relay(w, own, places, size)
    b.flush()
    b.reduce(w.output(part.start), places, part.count, finish=True)
