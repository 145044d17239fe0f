"""How long each step on the way to a node may take. Nothing waits for ever."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds for one step each; time in which a person thinks does not count."""

    connect_s: float = 10.0  # name resolution and TCP
    login_s: float = 20.0  # key exchange and authentication
    command_s: float = 20.0  # one small program on the node
    chunk_s: float = 20.0  # one piece of an upload
    attach_s: float = 30.0  # starting the agent on a busy machine
    call_s: float = 30.0  # an RPC call that names no deadline of its own
    close_s: float = 5.0  # saying goodbye
    keepalive_s: float = 5.0  # a silent connection is asked this often
    keepalive_count: int = 3  # so many unanswered questions mean that it is lost
    reconnect_first_s: float = 0.5  # doubled after every failed attempt
    reconnect_max_s: float = 30.0
