"""Hands the sudo password to sudo and to nobody else: a socket that exists only while one sudo call runs.

sudo starts the program that SUDO_ASKPASS names, as the user, and reads a line from it. That program is a script of a
few lines that holds no secret; it fetches the password from a socket in the agent's own directory (0700, the socket
0600). Each call answers once: sudo asks again only after a wrong password, and must not be told it three times.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import struct
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from stellwerk_agent.paths import bound

SCRIPT = """\
#!{python} -I
import os, socket, sys
directory, name = {directory!r}, {name!r}
handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(f"/proc/self/fd/{{handle}}/{{name}}")
    with connection.makefile("rb") as stream:
        answer = stream.read()
if not answer:
    sys.exit(1)
sys.stdout.buffer.write(answer)
"""


@contextlib.asynccontextmanager
async def served(password: bytes, state_dir: Path, python: str) -> AsyncIterator[Path]:
    """Serve the password while the block runs; gives the path of the script for SUDO_ASKPASS."""
    token = secrets.token_hex(8)
    where = state_dir / f"ask-{token}.sock"
    script = state_dir / f"askpass-{token}"
    listener = bound(where, socket.SOCK_NONBLOCK)
    told = False

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal told
        peer: socket.socket = writer.get_extra_info("socket")
        _, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if not told and uid == os.getuid():
            told = True
            writer.write(password + b"\n")
        with contextlib.suppress(OSError):  # sudo may have given up in the meantime
            await writer.drain()
        writer.close()

    try:
        _write_script(script, SCRIPT.format(python=python, directory=str(state_dir), name=where.name))
        # From 3.13 on asyncio would look for the socket under its short name, which may not exist any more.
        more: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
        async with await asyncio.start_unix_server(answer, sock=listener, **more):
            yield script
    finally:
        listener.close()
        where.unlink(missing_ok=True)
        script.unlink(missing_ok=True)


def _write_script(script: Path, text: str) -> None:
    descriptor = os.open(script, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o700)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
