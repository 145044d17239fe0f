"""What a connection asks of those who answer over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stellwerk.serving.gateway.http.connection import ServerConnection
    from stellwerk.serving.gateway.http.message import HttpError, Request


class Exchange(Protocol):
    """What is going on over a connection, as far as the connection must tell it something."""

    @property
    def begun(self) -> bool:
        """A part of the answer has been written."""
        ...

    def client_gone(self) -> None:
        """The client has left, or was cut off."""

    def client_paused(self) -> None:
        """The client does not take what is written: stop producing."""

    def client_resumed(self) -> None:
        """Go on."""


class Handler(Protocol):
    """Who answers. Both calls must not raise; a refusal before the body is an HttpError."""

    def accept(self, connection: ServerConnection, request: Request) -> HttpError | None:
        """Judge a request by its head, before its body is read. `request.body` is empty."""

    def answer(self, connection: ServerConnection, request: Request) -> None:
        """Answer a complete request, now or later, ending with `connection.finish()`."""

    def refuse(self, connection: ServerConnection, request: Request | None, error: HttpError) -> None:
        """Write the answer to a request that never was one. The connection closes afterwards if `error.close`."""
