"""How a gateway that runs on a node is given another policy, other keys and secrets: over a socket of its folder.

The folder and the socket are their owner's alone, so nobody else reaches it, and secrets stay in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

MOST_BYTES = 16 * 1024 * 1024
_NAME = "control"
_ANSWER_S = 30.0


class ControlError(OSError):
    """No gateway answers there."""


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A path to the socket by way of an open folder: the kernel takes no more than 107 bytes, and homes may be deep."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{_NAME}"
    finally:
        os.close(descriptor)


async def listen(folder: Path, answer: Callable[[str], Awaitable[dict[str, str]]]) -> asyncio.Server:
    """`answer` gets the text of an order and tells what became of it. Raises OSError."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            text = await reader.read(-1)
            if text:
                writer.write(json.dumps(await answer(text.decode())).encode())
                await writer.drain()
        except (OSError, UnicodeDecodeError):
            return  # whoever asked has gone, or is none of us
        finally:
            writer.close()

    (folder / _NAME).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX)
    try:
        with _short(folder) as path:
            listening.bind(path)
        (folder / _NAME).chmod(0o600)
        return await asyncio.start_unix_server(serve, sock=listening, limit=MOST_BYTES)
    except BaseException:
        listening.close()
        raise


def ask(folder: Path, order: str) -> dict[str, str]:
    """Hand over an order and wait for the answer. Raises ControlError."""
    try:
        with socket.socket(socket.AF_UNIX) as connection, _short(folder) as path:
            connection.settimeout(_ANSWER_S)
            connection.connect(path)
            connection.sendall(order.encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answer:
                return {str(key): str(value) for key, value in json.loads(answer.read()).items()}
    except (OSError, ValueError) as error:
        raise ControlError(f"The gateway does not answer: {error}.") from error


class Vault:
    """Secrets that outlive one run of the gateway and never touch a disk: memory that parent and child share."""

    def __init__(self, secrets: dict[str, str]) -> None:
        self._descriptor = os.memfd_create("secrets", os.MFD_CLOEXEC)
        self.store(secrets)

    def store(self, secrets: dict[str, str]) -> None:
        """Replace what is there."""
        data = json.dumps(secrets).encode() + b"\n"
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))

    def read(self) -> dict[str, str]:
        data = os.pread(self._descriptor, MOST_BYTES, 0)
        found: dict[str, str] = json.loads(data.partition(b"\n")[0])
        return found

    def close(self) -> None:
        os.close(self._descriptor)
