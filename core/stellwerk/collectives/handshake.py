"""Proof of the token on a new connection, and small framed messages.

Both sides prove that they know the token without sending it: each answers the other's random challenge with an HMAC
over both challenges and the caller's introduction. A stranger learns nothing and is cut off.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import socket
import struct
import time
from pathlib import Path
from typing import Any

from stellwerk.collectives.errors import SetupFailed

CHALLENGE_BYTES = 32
FRAME_BYTES_MAX = 1 << 22
HANDSHAKE_S = 5.0


class TokenRefused(SetupFailed):
    """The other side does not know the token, or says that we do not."""


def local_token() -> bytes:
    """A secret that only processes of this user on this machine can read; enough for ranks on one machine."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    path = Path(base) / "stellwerk" / "collectives.token"
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_hex(32).encode())
    with contextlib.suppress(FileExistsError):
        os.link(partial, path)  # only the first of several ranks wins, and nobody reads half a file
    partial.unlink()
    return path.read_bytes()


def _mac(token: bytes, side: bytes, *parts: bytes) -> bytes:
    return hmac.new(token, side + b"".join(struct.pack("!I", len(p)) + p for p in parts), hashlib.sha256).digest()


def receive_exactly(sock: socket.socket, size: int, deadline: float) -> bytes:
    """Read `size` bytes. ConnectionError at the end of the stream, TimeoutError at the deadline (monotonic clock)."""
    data = bytearray()
    while len(data) < size:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the other side did not answer in time")
        sock.settimeout(left)
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError("the other side closed the connection")
        data += part
    return bytes(data)


def send_frame(sock: socket.socket, value: Any, deadline: float) -> None:
    """Send a JSON value with its length before it."""
    data = json.dumps(value, separators=(",", ":")).encode()
    sock.settimeout(max(0.001, deadline - time.monotonic()))
    sock.sendall(struct.pack("!I", len(data)) + data)


def receive_frame(sock: socket.socket, deadline: float) -> Any:
    """Receive a JSON value. ValueError for nonsense, and for more than 4 MiB."""
    (size,) = struct.unpack("!I", receive_exactly(sock, 4, deadline))
    if size > FRAME_BYTES_MAX:
        raise ValueError(f"a message of {size} bytes is announced; that is not this protocol")
    return json.loads(receive_exactly(sock, size, deadline))


def introduce(sock: socket.socket, token: bytes, hello: dict[str, Any], deadline: float) -> None:
    """The caller's side: say who we are and prove the token; be sure that the other side knows it too."""
    theirs = receive_exactly(sock, CHALLENGE_BYTES, deadline)
    ours = secrets.token_bytes(CHALLENGE_BYTES)
    text = json.dumps(hello, separators=(",", ":")).encode()
    sock.sendall(ours + struct.pack("!I", len(text)) + text + _mac(token, b"caller", theirs, ours, text))
    try:
        answer = receive_exactly(sock, hashlib.sha256().digest_size, deadline)
    except ConnectionError as error:
        raise TokenRefused("the token was refused: the ranks were started with different tokens") from error
    if not hmac.compare_digest(answer, _mac(token, b"host", theirs, ours, text)):
        raise TokenRefused("the machine that answered does not know the token; it is not one of the ranks")


def admit(sock: socket.socket, token: bytes, deadline: float) -> dict[str, Any]:
    """The host's side: returns the caller's introduction. TokenRefused for a stranger; the caller closes the socket."""
    ours = secrets.token_bytes(CHALLENGE_BYTES)
    sock.settimeout(max(0.001, deadline - time.monotonic()))
    sock.sendall(ours)
    theirs = receive_exactly(sock, CHALLENGE_BYTES, deadline)
    (size,) = struct.unpack("!I", receive_exactly(sock, 4, deadline))
    if size > 4096:
        raise TokenRefused("an introduction of that size is not this protocol")
    text = receive_exactly(sock, size, deadline)
    proof = receive_exactly(sock, hashlib.sha256().digest_size, deadline)
    if not hmac.compare_digest(proof, _mac(token, b"caller", ours, theirs, text)):
        raise TokenRefused("a caller does not know the token")
    sock.sendall(_mac(token, b"host", ours, theirs, text))
    hello = json.loads(text)
    if not isinstance(hello, dict):
        raise TokenRefused("an introduction must be an object")
    return hello
