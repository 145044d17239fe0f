"""`files.*`: the desktop's files on the node, below one directory of the agent and nowhere else."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk_agent.options import Options
from stellwerk_agent.reading import clean
from stellwerk_agent.rpc import FULL, Call, Registry, refused_by_system

MAX_READ_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 5000
MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class OnePath:
    path: str = ""


@dataclass(frozen=True, slots=True)
class ReadFile:
    path: str
    offset: int = 0
    limit: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WriteFile:
    """`data` is base64. With `offset` the bytes go there, else they become the whole file in one step."""

    path: str
    data: str
    offset: int | None = None
    executable: bool = False


class OwnFiles:
    """Files below `STATE_DIR/files`. No link is followed out of it."""

    def __init__(self, options: Options) -> None:
        self._base = options.state_dir / "files"

    def register(self, registry: Registry) -> None:
        registry.add("files.list", OnePath, self._list)
        registry.add("files.read", ReadFile, self._read)
        registry.add("files.write", WriteFile, self._write)
        registry.add("files.remove", OnePath, self._remove)

    def place(self, text: str) -> Path:
        """Where a relative path lies. Raises `BadInput` for one that leaves the directory."""
        pure = PurePosixPath(text)
        if pure.is_absolute() or ".." in pure.parts or "\0" in text or len(pure.parts) > MAX_DEPTH:
            raise BadInput(say("{text} is no path below the agent's own directory", text=repr(clean(text))))
        path = self._base
        for part in pure.parts:
            path = path / part
            if path.is_symlink():
                raise BadInput(say("{text} goes through a link", text=repr(clean(text))))
        return path

    async def _list(self, call: Call, params: OnePath) -> dict[str, Any]:
        return await self._on_disk(self._list_now, params)

    async def _read(self, call: Call, params: ReadFile) -> dict[str, Any]:
        return await self._on_disk(self._read_now, params)

    async def _write(self, call: Call, params: WriteFile) -> dict[str, Any]:
        return await self._on_disk(self._write_now, params)

    async def _remove(self, call: Call, params: OnePath) -> dict[str, Any]:
        return await self._on_disk(self._remove_now, params)

    @staticmethod
    async def _on_disk(action: Any, params: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = await asyncio.to_thread(action, params)
        except OSError as error:
            if error.errno in FULL:
                raise refused_by_system(error) from None
            raise StellwerkError(
                say("{path} cannot be used", path=repr(clean(params.path))),
                why=error.strerror or str(error),
                remedy="see to free disk space",
            ) from None
        return answer

    def _list_now(self, params: OnePath) -> dict[str, Any]:
        directory = self.place(params.path)
        if directory == self._base and not directory.exists():
            return {"entries": []}
        entries = []
        for path in sorted(directory.iterdir())[:MAX_ENTRIES]:
            status = path.lstat()
            entries.append(
                {
                    "name": path.name,
                    "directory": stat.S_ISDIR(status.st_mode),
                    "size": status.st_size,
                    "mtime": status.st_mtime,
                }
            )
        return {"entries": entries}

    def _read_now(self, params: ReadFile) -> dict[str, Any]:
        if params.offset < 0 or params.limit < 1:
            raise BadInput("offset is 0 or more, limit 1 or more")
        descriptor = os.open(self.place(params.path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(params.offset)
            data = stream.read(min(params.limit, MAX_READ_BYTES))
        return {"data": base64.b64encode(data).decode(), "end": params.offset + len(data), "size": size}

    def _write_now(self, params: WriteFile) -> dict[str, Any]:
        try:
            data = base64.b64decode(params.data, validate=True)
        except binascii.Error:
            raise BadInput("data is no base64 text") from None
        path = self.place(params.path)
        if path == self._base:
            raise BadInput("a file needs a name")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = 0o700 if params.executable else 0o600
        if params.offset is None:
            self._write_whole(path, data, mode)
        else:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
            with os.fdopen(descriptor, "wb") as stream:
                stream.seek(params.offset)
                stream.write(data)
                os.fchmod(stream.fileno(), mode)
        return {"size": path.stat().st_size}

    @staticmethod
    def _write_whole(path: Path, data: bytes, mode: int) -> None:
        temporary = path.with_name(f".{path.name}.new")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, mode), "wb") as stream:
                stream.write(data)
                os.fchmod(stream.fileno(), mode)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def _remove_now(self, params: OnePath) -> dict[str, Any]:
        path = self.place(params.path)
        if path == self._base:
            raise BadInput("a path is needed")
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        return {}
