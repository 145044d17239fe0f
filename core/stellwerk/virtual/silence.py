"""The address of a machine without power: whoever knocks gets no answer at all.

A closed port on this computer would refuse, and a refusal says that the machine is there. A listener that takes nobody
off its full queue is as silent as an address behind which there is nothing: the kernel drops what comes.
"""

from __future__ import annotations

import contextlib
import socket

# One connection fills a queue of length 0; the second is the first that gets no answer.
_FILLERS = 2


class Silence:
    """Holds a port until `end`; no connection to it ever stands or fails."""

    def __init__(self, host: str, port: int) -> None:
        with contextlib.ExitStack() as made:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._listener = made.enter_context(socket.socket(family))
            # Connections that were just cut still hold the port.
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind((host, port))
            self._listener.listen(0)
            self._queue = [made.enter_context(socket.socket(family)) for _ in range(_FILLERS)]
            for filler in self._queue:
                filler.setblocking(False)
                filler.connect_ex((host, port))
            made.pop_all()

    def end(self) -> None:
        """Free the port."""
        for held in (*self._queue, self._listener):
            held.close()
