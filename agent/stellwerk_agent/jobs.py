"""Jobs: processes that the agent starts and keeps track of. All state is in files, so a new daemon knows them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import shutil
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.guard import JobStatus
from stellwerk.model.text import say
from stellwerk_agent import commands, keeper
from stellwerk_agent.options import Options
from stellwerk_agent.reading import clean, clean_text
from stellwerk_agent.rpc import Call, Nothing, Registry
from stellwerk_agent.selfrun import Self

KEPT_FINISHED = 50
MAX_RUNNING = 100
MAX_LOG_ANSWER = 1024 * 1024
START_LIMIT_S = 20.0
POLL_S = 0.1
_ID = re.compile(r"^[a-z0-9][a-z0-9_.-]{0,63}-[0-9a-f]{8}$")
_ANSI = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")


@dataclass(frozen=True, slots=True)
class StartJob:
    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    lifetime_s: float | None = None  # ended by its keeper after this time
    stdin: str | None = None  # what it reads from its standard input: the place for secrets, never in a file


@dataclass(frozen=True, slots=True)
class OneJob:
    job_id: str


@dataclass(frozen=True, slots=True)
class StopJob:
    job_id: str
    grace_s: float = 10.0


@dataclass(frozen=True, slots=True)
class JobLog:
    job_id: str
    offset: int = 0
    limit: int = 65536


class Jobs:
    """Starts, finds, stops jobs and reads their logs."""

    def __init__(self, options: Options, me: Self) -> None:
        self._options = options
        self._me = me
        self._running = 0
        self._counted_at = 0.0

    @property
    def directory(self) -> Path:
        """One directory per job lies here."""
        return self._options.state_dir / "jobs"

    def register(self, registry: Registry) -> None:
        registry.add("job.start", StartJob, self._start, deadline_s=START_LIMIT_S + 10)
        registry.add("job.stop", StopJob, self._stop, deadline_s=120.0)
        registry.add("job.status", OneJob, self._status)
        registry.add("job.list", Nothing, self._list)
        registry.add("job.log", JobLog, self._log)

    def running(self) -> int:
        """How many run; looked up every few seconds, since every sample asks."""
        if time.monotonic() - self._counted_at > 5.0:
            self._counted_at = time.monotonic()
            self._running = sum(job.state == "running" for job in self.all())
        return self._running

    def all(self) -> list[JobStatus]:
        """All jobs that are known, oldest first."""
        found = []
        for name in sorted(_names(self.directory)):
            if _ID.match(name):
                try:
                    found.append(self.status(name))
                except BadInput:
                    continue  # just being made, or damaged
        return sorted(found, key=lambda job: job.started_at or 0.0)

    def status(self, job_id: str) -> JobStatus:
        """One job as its files and the process table tell. Raises `BadInput` when there is none."""
        directory = self._find(job_id)
        spec = _read_json(directory / "spec.json")
        if spec is None:
            raise BadInput(say("there is no job {job_id} on this node", job_id=repr(job_id)))
        base = JobStatus(
            job_id=job_id,
            name=str(spec.get("name", "")),
            argv=tuple(str(word) for word in spec.get("argv", ())),
            state="lost",
            started_at=spec.get("started_at"),
        )
        # The exit file last: a job that ends between the two looks must not seem lost.
        kept = _read_json(directory / "keeper.json")
        if kept is None:  # its keeper is about to write it
            pid, alive = None, time.time() - float(spec.get("started_at") or 0) < START_LIMIT_S
        else:
            pid, alive = kept.get("child"), _is_alive(kept)
        ended = _read_json(directory / "exit.json")
        if ended is not None:
            return replace(
                base, state="exited", pid=pid, exit_code=ended.get("exit_code"), ended_at=ended.get("ended_at")
            )
        return replace(base, state="running" if alive else "lost", pid=pid)

    async def start(self, params: StartJob) -> JobStatus:
        """Start a job. Raises `BadInput` when it cannot run, `StellwerkError` when the node has no room for it."""
        self._check(params)
        self._forget_old()
        slug = re.sub(r"[^a-z0-9_.-]+", "-", params.name.lower()).strip("-._") or "job"
        job_id = f"{slug[:40]}-{secrets.token_hex(4)}"
        directory = self.directory / job_id
        try:
            directory.mkdir(mode=0o700, parents=True)
            self.directory.chmod(0o700)
            spec = {"name": clean(params.name), "argv": params.argv, "started_at": time.time()}
            _write_private(directory / "spec.json", json.dumps(spec))
        except OSError as error:
            shutil.rmtree(directory, ignore_errors=True)
            raise StellwerkError(
                "no job can be started", why=error.strerror or str(error), remedy="free disk space"
            ) from None
        answer = await self._start_keeper(directory, params)
        if "error" in answer:
            shutil.rmtree(directory, ignore_errors=True)
            raise BadInput(say("{argv} cannot be started", argv=params.argv[0]), why=answer["error"])
        self._counted_at = 0.0
        return self.status(job_id)

    async def stop(self, job_id: str, grace_s: float) -> JobStatus:
        """Ask the job to end, and end it after `grace_s`."""
        status = self.status(job_id)
        for number, patience_s in ((signal.SIGTERM, max(0.0, grace_s)), (signal.SIGUSR1, keeper.LINGER_S * 3)):
            if status.state != "running":
                break
            kept = _read_json(self._find(job_id) / "keeper.json") or {}
            if _is_alive(kept):
                os.kill(kept["keeper"], number)
            until = time.monotonic() + patience_s
            while (status := self.status(job_id)).state == "running" and time.monotonic() < until:
                await asyncio.sleep(POLL_S)
        self._counted_at = 0.0
        return status

    async def stop_all(self, grace_s: float = 5.0) -> None:
        """End every job (un-pairing)."""
        await asyncio.gather(*(self.stop(job.job_id, grace_s) for job in self.all() if job.state == "running"))

    def log(self, job_id: str, offset: int, limit: int) -> dict[str, Any]:
        """A piece of the job's output: `text` begins at byte `offset` and ends at `end`; `size` bytes came so far.

        A negative offset counts from the end. What has been dropped is skipped: `offset` tells where the text begins.
        """
        directory = self._find(job_id)
        segments = sorted((int(n[4:]), n) for n in _names(directory) if re.fullmatch(r"log\.\d{16}", n))
        sizes = [(start, name, (directory / name).stat().st_size) for start, name in segments]
        size = sizes[-1][0] + sizes[-1][2] if sizes else 0
        position = max(size + offset if offset < 0 else offset, sizes[0][0] if sizes else 0)
        limit = max(1, min(limit, MAX_LOG_ANSWER))
        data = b""
        for start, name, length in sizes:
            at = position + len(data)
            if start <= at < start + length and len(data) < limit:
                with (directory / name).open("rb") as stream:
                    stream.seek(at - start)
                    data += stream.read(limit - len(data))
        if position + len(data) < size or not data.endswith(b"\n"):
            # More comes: end at a line, so that no letter and no colour code is cut; a longer line is cut anyway.
            data = data[: data.rfind(b"\n") + 1] or (data if len(data) >= limit else _whole_letters(data))
        text = clean_text(_ANSI.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n"))
        return {"offset": position, "text": text, "end": position + len(data), "size": size}

    def _check(self, params: StartJob) -> None:
        if not params.argv or not params.argv[0]:
            raise BadInput("a job needs a program")
        if any("\0" in word for word in (*params.argv, *params.env, *params.env.values(), params.cwd or "")):
            raise BadInput("a job's words cannot hold a zero byte")
        if any(not name or "=" in name for name in params.env):
            raise BadInput("the name of an environment variable is empty or holds '='")
        if self.running() >= MAX_RUNNING:
            raise BadInput(
                say("more than {max_running} jobs run on this node", max_running=MAX_RUNNING), remedy="stop some"
            )

    async def _start_keeper(self, directory: Path, params: StartJob) -> dict[str, Any]:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        spec = {
            "argv": params.argv,
            "env": {**environment, **params.env},
            "cwd": params.cwd or str(Path.home()),
            "lifetime_s": params.lifetime_s,
            "stdin": params.stdin,
        }
        argv = self._me.command("keeper", str(directory))
        result = await commands.run(
            argv,
            timeout_s=START_LIMIT_S,
            stdin=json.dumps(spec).encode(),
            environment=self._me.environment(commands.plain_environment()),
        )
        try:
            answer = json.loads(result.out)
        except ValueError:
            answer = None
        return answer if isinstance(answer, dict) else {"error": result.complaint()}

    def _find(self, job_id: str) -> Path:
        directory = self.directory / job_id
        if not _ID.match(job_id) or not directory.is_dir():
            raise BadInput(say("there is no job {job_id} on this node", job_id=repr(clean(job_id))))
        return directory

    def _forget_old(self) -> None:
        finished = [job for job in self.all() if job.state != "running"]
        for job in finished[: max(0, len(finished) - KEPT_FINISHED)]:
            shutil.rmtree(self.directory / job.job_id, ignore_errors=True)

    async def _start(self, call: Call, params: StartJob) -> JobStatus:
        return await self.start(params)

    async def _stop(self, call: Call, params: StopJob) -> JobStatus:
        return await self.stop(params.job_id, params.grace_s)

    async def _status(self, call: Call, params: OneJob) -> JobStatus:
        return self.status(params.job_id)

    async def _list(self, call: Call, params: Nothing) -> dict[str, Any]:
        return {"jobs": self.all()}

    async def _log(self, call: Call, params: JobLog) -> dict[str, Any]:
        return self.log(params.job_id, params.offset, params.limit)


def _is_alive(kept: dict[str, Any]) -> bool:
    pid, start = kept.get("keeper"), kept.get("keeper_start")
    return isinstance(pid, int) and start is not None and keeper.process_start(pid) == start


def _whole_letters(data: bytes) -> bytes:
    """`data` without an unfinished UTF-8 letter at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        need = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return data[:-back] if need > back else data
    return data


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_bytes() or b"null")
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)  # noqa: PTH208  (names are wanted, not paths)
    except OSError:
        return []
