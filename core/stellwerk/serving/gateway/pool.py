"""A pool at run time: which replica takes the next request, who waits, and what decide() is told about it."""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import Protocol

from stellwerk.serving.decision.state import PoolState
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.policy.model import Pool as PoolSpec

# With prefix balancing a replica may be busier than the idlest by this share of its slots before a conversation
# moves: recomputing a prompt costs less than waiting behind a full replica.
_PREFIX_SLACK = 0.5


class Waiter(Protocol):
    """A request in the queue."""

    gone: bool  # its client left or its time ran out; it is skipped
    session: str | None  # for prefix balancing
    avoid: tuple[Replica, ...]  # replicas on which it has failed

    def slot_free(self, replica: Replica) -> None:
        """A slot on `replica` has been taken for it."""


class Pool:
    """Replicas of one model, a queue, and counters. Lives across reloads, as its name does."""

    __slots__ = (
        "_queue",
        "_turn",
        "learned_window",
        "model_json",
        "ready",
        "replicas",
        "running",
        "service_s",
        "slots",
        "spec",
        "waiting",
    )

    def __init__(self, spec: PoolSpec, replicas: list[Replica], model_json: bytes) -> None:
        self.spec = spec
        self.replicas = replicas
        self.model_json = model_json
        self.running = 0
        self.waiting = 0
        self.ready = 0
        self.slots = 0
        self.service_s = 1.0  # smoothed time of an answer, for Retry-After
        self.learned_window: int | None = None
        self._queue: deque[Waiter] = deque()
        self._turn = 0
        self.recount()

    def recount(self) -> None:
        """After any replica's slots changed."""
        self.ready = sum(1 for replica in self.replicas if replica.slots > 0)
        self.slots = sum(replica.slots for replica in self.replicas)
        windows = [replica.context_window for replica in self.replicas if replica.context_window is not None]
        self.learned_window = min(windows) if windows else None

    @property
    def proven(self) -> int:
        """Replicas that take requests and have been heard from."""
        return sum(1 for replica in self.replicas if replica.proven)

    @property
    def full(self) -> bool:
        """Would one more request be turned away?"""
        return self.running >= self.slots and self.waiting >= self.spec.max_waiting

    def state(self) -> PoolState:
        return PoolState(self.ready, self.running, self.waiting, self.slots, self.full, self.learned_window)

    # --- choosing -------------------------------------------------------------------------------------------------

    def take(self, session: str | None = None, avoid: tuple[Replica, ...] = ()) -> Replica | None:
        """Claim a slot on the replica that suits best; None when all are busy, resting or to be avoided."""
        replica = self._choose(session, avoid)
        if replica is not None:
            replica.running += 1
            self.running += 1
        return replica

    def _choose(self, session: str | None, avoid: tuple[Replica, ...]) -> Replica | None:
        replicas = self.replicas
        if len(replicas) == 1:
            only = replicas[0]
            return only if only.running < only.slots and only not in avoid else None
        free = [replica for replica in replicas if replica.running < replica.slots and replica not in avoid]
        if not free:
            return None
        self._turn += 1
        balance = self.spec.balance
        if balance == "prefix" and session is not None:
            return self._by_prefix(session, avoid)
        if balance == "round_robin":
            # The turn goes over all replicas, so that one that is skipped now does not shift the order.
            for step in range(len(replicas)):
                replica = replicas[(self._turn + step) % len(replicas)]
                if replica in free:
                    return replica
        start = self._turn % len(free)  # equals take turns
        return min(free[start:] + free[:start], key=lambda replica: replica.running / replica.slots)

    def _by_prefix(self, session: str, avoid: tuple[Replica, ...]) -> Replica | None:
        """Rendezvous hashing: a conversation stays where its cache is, and only those of a lost replica move."""
        key = session.encode("utf-8", "surrogatepass")
        usable = [replica for replica in self.replicas if replica.slots > 0 and replica not in avoid]
        ranked = sorted(usable, key=lambda replica: blake2b(key, digest_size=8, key=_hash_key(replica)).digest())
        idlest = min(replica.running / replica.slots for replica in usable)
        for replica in ranked:
            load = replica.running / replica.slots
            if replica.running < replica.slots and load <= idlest + _PREFIX_SLACK:
                return replica
        return None

    def can_serve(self, avoid: tuple[Replica, ...]) -> bool:
        """Is there a replica, busy or not, that could take a request which has failed on those in `avoid`?"""
        return any(replica.slots > 0 and replica not in avoid for replica in self.replicas)

    # --- queue ----------------------------------------------------------------------------------------------------

    def enqueue(self, waiter: Waiter) -> bool:
        """False when the queue is full."""
        if self.waiting >= self.spec.max_waiting:
            return False
        self._queue.append(waiter)
        self.waiting += 1
        return True

    def leave_queue(self, waiter: Waiter) -> None:
        """The waiter has been marked as gone. It is taken out at once, so that nothing holds its body."""
        try:
            self._queue.remove(waiter)
        except ValueError:
            return
        self.waiting -= 1

    def release(self, replica: Replica, service_s: float | None = None) -> None:
        """Give a slot back. `service_s`: how long a successful answer took."""
        replica.running -= 1
        self.running -= 1
        if service_s is not None:
            self.service_s += 0.1 * (service_s - self.service_s)
        if self.waiting:
            self.pump()

    def pump(self) -> None:
        """Hand free slots to those who wait, in their order; who cannot take what is free holds nobody up."""
        passed_over: list[Waiter] = []
        served: list[tuple[Waiter, Replica]] = []
        while self._queue:
            waiter = self._queue[0]
            replica = None if waiter.gone else self.take(waiter.session, waiter.avoid)
            if replica is None and not waiter.gone:
                if not waiter.avoid:
                    break  # it would take any: nothing is free
                passed_over.append(self._queue.popleft())
                continue
            self._queue.popleft()
            self.waiting -= 1
            if replica is not None:
                served.append((waiter, replica))
        self._queue.extendleft(reversed(passed_over))
        for waiter, replica in served:
            waiter.slot_free(replica)

    def retry_after_s(self) -> int:
        """When a place in the queue is likely to be free: whole seconds, 1 to 60."""
        rounds = (self.waiting + 1) / max(1, self.slots)
        return max(1, min(60, round(self.service_s * rounds)))


def _hash_key(replica: Replica) -> bytes:
    return blake2b(replica.name.encode(), digest_size=16).digest()
