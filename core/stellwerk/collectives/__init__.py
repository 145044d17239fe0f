"""Collective communication for small messages: algorithms, transports, start-up tests, fallback."""

from stellwerk.collectives.communicator import Communicator
from stellwerk.collectives.engine import Link
from stellwerk.collectives.errors import Aborted, CallMismatch, CollectiveError, PeerLost, SetupFailed
from stellwerk.collectives.kinds import Algorithm, DataType, Operation, ReduceOp, Topology, Transport
from stellwerk.collectives.options import Options
from stellwerk.collectives.report import Health, Report
from stellwerk.collectives.work import Work

__all__ = [
    "Aborted",
    "Algorithm",
    "CallMismatch",
    "CollectiveError",
    "Communicator",
    "DataType",
    "Health",
    "Link",
    "Operation",
    "Options",
    "PeerLost",
    "ReduceOp",
    "Report",
    "SetupFailed",
    "Topology",
    "Transport",
    "Work",
]
