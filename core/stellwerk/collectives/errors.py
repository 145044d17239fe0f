"""What can go wrong in a collective, for people: who, why, and what to do."""

from __future__ import annotations


class CollectiveError(Exception):
    """Base of all errors of the collective core."""


class PeerLost(CollectiveError):
    """A peer died, stalled or was cut off.

    Attributes: `rank` and `host` of the lost peer, `why` in words. The communicator is closed for good on every rank.
    """

    def __init__(self, rank: int, host: str, why: str) -> None:
        self.rank = rank
        self.host = host
        self.why = why
        super().__init__(
            f"rank {rank} on {host} is lost: {why}. The communicator cannot go on without it; "
            f"look at that process on {host}, then start all ranks again."
        )

    def __reduce__(self) -> tuple[type[PeerLost], tuple[int, str, str]]:
        return type(self), (self.rank, self.host, self.why)


class CallMismatch(CollectiveError):
    """Ranks called different operations, or the same one with another shape, type or order.

    `rank` is the one that noticed.
    """

    def __init__(self, rank: int, why: str) -> None:
        self.rank = rank
        self.why = why
        super().__init__(
            f"the ranks do not agree on the call: {why}. All ranks must make the same calls in the same order."
        )

    def __reduce__(self) -> tuple[type[CallMismatch], tuple[int, str]]:
        return type(self), (self.rank, self.why)


class Aborted(CollectiveError):
    """`abort()` or `close()` was called here, or a peer gave up for a reason of its own."""


class SetupFailed(CollectiveError):
    """No communicator could be made: a rank is missing, unreachable, of another version, or the token is wrong."""
