"""Root on a node: how it can be had, the password while the wizard runs, and the root verbs.

Every sudo command line is listed in `netguard/commands.py`. The password lives in memory only; it reaches sudo through
`askpass.served` and appears in no argument, environment, file or log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model import facts
from stellwerk.model.errors import AgentRefused, BadInput, DeadlineExceeded, StellwerkError, SudoFailed
from stellwerk.model.text import say
from stellwerk_agent import askpass
from stellwerk_agent.bootstrap import INSTALL, installed_path, is_installed
from stellwerk_agent.options import Options
from stellwerk_agent.paths import prepare_state_dir
from stellwerk_agent.selfrun import agent_hash, find_self

_SUDO_S = 60.0  # PAM may wait some seconds after a wrong password, or ask a directory server
_REFUSED_S = 30.0
_MAX_PASSWORD_BYTES = 255  # sudo reads no more

# What sudo says (LC_ALL=C) and what it means.
_NEEDS_PASSWORD = ("a password is required", "a terminal is required")
_WRONG = ("incorrect password attempt", "Sorry, try again")
_NEVER = ("not in the sudoers file", "is not allowed to", "may not run sudo", "must have a tty", "no new privileges")


@dataclass(frozen=True, slots=True)
class RootResult:
    """How a root verb ended."""

    rc: int
    stdout: bytes
    stderr: str

    def json(self) -> dict[str, Any]:
        """The verb's one object. Raises the error that it tells, or `AgentRefused` when it tells none."""
        try:
            data = json.loads(self.stdout)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            said = " ".join(self.stderr.split())[-400:]
            raise AgentRefused(
                "a command as root ended without an answer", why=said or say("exit status {rc}", rc=self.rc)
            )
        if isinstance(data.get("error"), dict):
            raise wire.error_from_wire({"data": data["error"], "message": str(data["error"].get("what"))})
        return data


class Sudo:
    """Runs things as root. One per daemon."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._password: bytearray | None = None
        self._installed: Path | None = None
        self._refused: str | None = None  # said by sudo after the right password: this user is no administrator
        self._refused_until = 0.0  # an administrator may have changed that meanwhile
        # sudo answers one question at a time: two calls at once would both count as attempts.
        self._one_at_a_time = asyncio.Lock()

    # -- how root can be had ---------------------------------------------------------------------------------------

    async def state(self) -> facts.Sudo:
        """How root can be had, asked anew."""
        if os.geteuid() == 0 and self._options.root == Path("/"):
            return facts.Sudo("root", say("logged in as root"))
        if shutil.which("sudo") is None:
            return facts.Sudo("none", say("there is no sudo command on this node"))
        done = await self._run(("sudo", "-k", "-n", "true"), self._environment(), None, _SUDO_S)
        found = judge_sudo(done, unlocked=self._password is not None)
        if found.state == "password" and self._refused is not None and time.monotonic() < self._refused_until:
            return facts.Sudo("none", self._refused)
        return found

    async def unlock(self, password: str) -> facts.Sudo:
        """Try a password and keep it in memory until `forget`. Raises `SudoFailed`, `BadInput`."""
        state = await self.state()
        if state.state in ("root", "nopasswd"):
            return state
        if state.state == "none" and self._refused is None:
            raise SudoFailed("root cannot be had on this node", why=state.why or "", remedy=_ADMINISTRATOR)
        secret = bytearray(password.encode())
        if not secret or len(secret) > _MAX_PASSWORD_BYTES or b"\n" in secret or b"\0" in secret:
            raise BadInput("this cannot be a sudo password", why="it is empty, too long, or has a line break in it")
        async with self._one_at_a_time, askpass.served(bytes(secret), self._state_dir(), self._python()) as script:
            done = await self._run(("sudo", "-k", "-A", "true"), self._environment(script), None, _SUDO_S)
        if done.rc != 0:
            _wipe(secret)
            raise self._failure(done)
        self.forget()
        self._password = secret
        return facts.Sudo("password", say("the password is known until the wizard ends"), unlocked=True)

    def forget(self) -> None:
        """Remove the password from memory."""
        self._refused = None
        if self._password is not None:
            _wipe(self._password)
        self._password = None

    @property
    def unlocked(self) -> bool:
        """Whether a password is held."""
        return self._password is not None

    # -- running things as root ------------------------------------------------------------------------------------

    async def run_root(
        self, verb: str, args: Sequence[str] = (), input: bytes | None = None, timeout_s: float = 60.0
    ) -> RootResult:
        """Run a root verb to its end. Raises `SudoFailed` when root cannot be had, `DeadlineExceeded`."""
        async with self._one_at_a_time:
            place = await self._install()
            async with self._way_to_root() as (prefix, environment):
                done = await self._run((*prefix, *self._verb(place, verb, args)), environment, input, timeout_s)
        if done.rc != 0 and not done.stdout and prefix:
            failure = self._failure(done)
            if failure.why:
                raise failure
        return done

    @contextlib.asynccontextmanager
    async def root_process(self, verb: str, args: Sequence[str] = ()) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run a long root verb with pipes; its stdin is closed and its end awaited when the block ends.

        A verb must end when its stdin closes: a process of root cannot be killed by the user who started it.
        """
        pipe = asyncio.subprocess.PIPE
        async with self._one_at_a_time:
            place = await self._install()
        async with self._way_to_root() as (prefix, environment):
            argv = (*prefix, *self._verb(place, verb, args))
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
            )
            try:
                yield process
            finally:
                if process.stdin is not None:
                    process.stdin.close()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(process.wait(), 10.0)

    def _verb(self, place: Path, verb: str, args: Sequence[str]) -> tuple[str, ...]:
        root = self._options.root
        where = () if root == Path("/") else ("--root", str(root))
        return (self._python(), "-I", str(place), "root", verb, *where, *args)

    @contextlib.asynccontextmanager
    async def _way_to_root(self) -> AsyncIterator[tuple[tuple[str, ...], dict[str, str]]]:
        """The words before one command, and its environment: the password is told once, so each call has its own."""
        if os.geteuid() == 0 and self._options.root == Path("/"):
            yield (), self._environment()
        elif shutil.which("sudo") is None:
            raise SudoFailed(say("there is no sudo command on this node"), remedy=_ADMINISTRATOR)
        elif self._password is None:
            yield ("sudo", "-n", "--"), self._environment()
        else:
            async with askpass.served(bytes(self._password), self._state_dir(), self._python()) as script:
                yield ("sudo", "-k", "-A", "--"), self._environment(script)

    async def _install(self) -> Path:
        """Have the agent in its root-owned place. Raises `SudoFailed`, `AgentRefused`."""
        me = find_self()
        if me.archive is None:
            raise AgentRefused("the agent runs from its sources here", why="root runs only the packed agent")
        if self._installed is not None and self._installed.exists():
            return self._installed
        digest = await asyncio.to_thread(agent_hash, me)
        place = installed_path(self._options.root, digest)
        if not await asyncio.to_thread(is_installed, place, digest, self._options.root):
            async with self._way_to_root() as (prefix, environment):
                argv = (*prefix, self._python(), "-I", "-c", INSTALL, str(me.archive), digest, str(place))
                done = await self._run(argv, environment, None, _SUDO_S)
            if done.rc != 0:
                failure = self._failure(done) if prefix else None
                if failure is not None and failure.why:
                    raise failure
                said = done.stderr.strip().splitlines()[-1:] or [say("exit status {rc}", rc=done.rc)]
                raise AgentRefused("the agent cannot be installed for root", why=said[0])
        self._installed = place
        return place

    # -- small parts -----------------------------------------------------------------------------------------------

    def _state_dir(self) -> Path:
        prepare_state_dir(self._options.state_dir)
        return self._options.state_dir

    def _python(self) -> str:
        if self._options.root == Path("/"):
            return "/usr/bin/python3"
        return shutil.which("python3") or "/usr/bin/python3"

    @staticmethod
    def _environment(script: Path | None = None) -> dict[str, str]:
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "USER", "LOGNAME") if key in os.environ}
        return {**kept, "LC_ALL": "C"} if script is None else {**kept, "LC_ALL": "C", "SUDO_ASKPASS": str(script)}

    @staticmethod
    async def _run(
        argv: Sequence[str], environment: dict[str, str], input: bytes | None, timeout_s: float
    ) -> RootResult:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL if input is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,  # no terminal: sudo must never ask on one
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(input), timeout_s)
        except (asyncio.TimeoutError, asyncio.CancelledError) as error:
            with contextlib.suppress(PermissionError, ProcessLookupError):  # root's processes end by themselves
                process.kill()
            if isinstance(error, asyncio.CancelledError):
                raise
            raise DeadlineExceeded(
                say("a command as root did not end within {timeout_s} s", timeout_s=f"{timeout_s:.0f}")
            ) from None
        return RootResult(process.returncode or 0, out, err.decode("utf-8", "replace"))

    def _failure(self, done: RootResult) -> StellwerkError:
        """What sudo's words mean; `why` is empty when they are not sudo's."""
        said = " ".join(done.stderr.split())
        never = next((line.strip() for line in done.stderr.splitlines() if any(m in line for m in _NEVER)), None)
        if never is not None:
            self._refused, self._refused_until = never, time.monotonic() + _REFUSED_S
            return SudoFailed("this user may not become root", why=never, remedy=_ADMINISTRATOR)
        if any(mark in said for mark in _WRONG):
            return SudoFailed(
                "the sudo password is wrong",
                why="sudo did not accept it; nothing was changed",
                remedy="type the password with which this user runs sudo on this node",
            )
        if "no password was provided" in said:
            return SudoFailed("the sudo password did not reach sudo", why=said[-400:], remedy="try again")
        if any(mark in said for mark in _NEEDS_PASSWORD) and self._refused is not None:
            return SudoFailed("this user may not become root", why=self._refused, remedy=_ADMINISTRATOR)
        if any(mark in said for mark in _NEEDS_PASSWORD):
            return SudoFailed("root is needed", why="sudo asks for a password here", remedy="enter the sudo password")
        if "sudo:" in said:
            return SudoFailed("sudo refused", why=said[-400:], remedy="see that `sudo true` works on this node")
        return SudoFailed("a command as root failed")


_ADMINISTRATOR = "log in as a user who may run sudo, or have an administrator add this one to the group sudo"


def judge_sudo(done: RootResult, *, unlocked: bool) -> facts.Sudo:
    """How root can be had, by the answer to `sudo -k -n true`."""
    if done.rc == 0:
        return facts.Sudo("nopasswd")
    said = " ".join(done.stderr.split())
    if any(mark in said for mark in _NEVER):
        return facts.Sudo("none", said)
    if any(mark in said for mark in _NEEDS_PASSWORD):
        return facts.Sudo("password", unlocked=unlocked)
    return facts.Sudo("unknown", said[-400:] or say("sudo ended with {code}", code=done.rc))


def _wipe(secret: bytearray) -> None:
    secret[:] = bytes(len(secret))
