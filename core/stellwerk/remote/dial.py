"""Opens one SSH connection: TCP, key exchange against the trusted keys, one round of authentication."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import asyncssh

from stellwerk.model.text import say
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.target import Target
from stellwerk.remote.trust import HOST_KEY_ALGORITHMS

_EYEBALLS_S = 0.3  # head start of one address of a machine over its next


class Answers:
    """What to say when the machine asks for a password or more. This base says nothing, ever."""

    async def password(self) -> str | None:
        """The answer to the method "password"; `None` to give up on it."""
        return None

    async def wants_prompts(self) -> bool:
        """Whether to try keyboard-interactive."""
        return False

    async def prompts(self, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str] | None:
        """The answers to one screen of keyboard-interactive; `None` to give up on it."""
        return None


class Attempt(asyncssh.SSHClient):
    """Watches one attempt: what the machine showed and asked for, so that a failure can be explained."""

    def __init__(self, answers: Answers, clock: asyncio.Timeout) -> None:
        self._answers = answers
        self._clock = clock
        self.connection: asyncssh.SSHClientConnection | None = None
        self.unknown_key: asyncssh.SSHKey | None = None
        self.asked_methods: set[str] = set()
        self.first_bytes = b""  # what the other side said before it named itself

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """The transport stands."""
        self.connection = conn
        self._listen_in(conn)

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Called for a key that is not trusted: remember it, and do not go on."""
        self.unknown_key = key
        return False

    async def password_auth_requested(self) -> str | None:
        """The machine takes passwords."""
        self.asked_methods.add("password")
        async with self._human_time():
            return await self._answers.password()

    async def kbdint_auth_requested(self) -> str | None:
        """The machine takes keyboard-interactive."""
        self.asked_methods.add("keyboard-interactive")
        return "" if await self._answers.wants_prompts() else None

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """One screen of questions."""
        async with self._human_time():
            return await self._answers.prompts(instructions, prompts)

    @contextlib.asynccontextmanager
    async def _human_time(self) -> AsyncIterator[None]:
        """A person may think; the machine's time goes on afterwards."""
        now = asyncio.get_running_loop().time
        deadline = self._clock.when()
        left = None if deadline is None else max(deadline - now(), 0.0)
        if not self._clock.expired():
            self._clock.reschedule(None)
        try:
            yield
        finally:
            if left is not None and not self._clock.expired():
                self._clock.reschedule(now() + left)

    def forget_answers(self) -> None:
        """The connection may live for days; a password must not live with it."""
        self._answers = Answers()

    @property
    def names_itself(self) -> bool:
        """Whether the other side said that it is an SSH server."""
        return self.connection is not None and bool(self.connection.get_extra_info("server_version"))

    def _listen_in(self, conn: asyncssh.SSHClientConnection) -> None:
        """Keep the first bytes: asyncssh tells nobody what came instead of a version."""
        receive = conn.data_received

        def received(data: bytes, *more: Any) -> None:
            if len(self.first_bytes) < _FIRST_BYTES and not self.names_itself:
                self.first_bytes += data[:_FIRST_BYTES]
            receive(data, *more)

        setattr(conn, "data_received", received)  # noqa: B010  (a method of the instance alone)

    @property
    def stage(self) -> str:
        """How far the attempt came, in words for "the machine did not …"."""
        if self.connection is None or not self.names_itself:
            return say("answer as an SSH server")
        if self.connection.get_server_host_key() is None:
            return say("finish the key exchange")
        return say("finish the login")


_FIRST_BYTES = 200


class DialError(Exception):
    """A failed attempt: the cause as asyncio or asyncssh raised it, and what the attempt saw."""

    def __init__(self, cause: Exception, attempt: Attempt | None) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.attempt = attempt


async def dial(
    target: Target,
    *,
    trusted: Sequence[asyncssh.SSHKey],
    keys: Sequence[asyncssh.SSHKeyPair],
    answers: Answers,
    deadlines: Deadlines,
    via: asyncssh.SSHClientConnection | None = None,
    learn: Callable[[list[asyncssh.SSHKey]], None] | None = None,
) -> tuple[asyncssh.SSHClientConnection, Attempt]:
    """One connection, logged in. Raises `DialError` for everything that the network or the machine does wrong.

    `learn` gets further host keys that the machine proves to own. Nothing of the user's ~/.ssh is read here.
    """
    sock = None
    attempt: Attempt | None = None
    try:
        if via is None:
            async with asyncio.timeout(deadlines.connect_s):
                sock = await _connect_tcp(target.host, target.port)
        async with asyncio.timeout(deadlines.login_s) as clock:
            attempt = Attempt(answers, clock)
            connection = await asyncssh.connect(
                **_route(target, sock, via), **_options(target, attempt, trusted, keys, deadlines, learn)
            )
        return connection, attempt
    except (OSError, asyncssh.Error, ValueError) as error:
        raise DialError(error, attempt) from error
    finally:
        if attempt is not None:
            attempt.forget_answers()
        if sock is not None and (attempt is None or attempt.connection is None):
            sock.close()


def _route(target: Target, sock: socket.socket | None, via: asyncssh.SSHClientConnection | None) -> dict[str, Any]:
    return {"host": target.host, "port": target.port, "tunnel": via} if sock is None else {"sock": sock}


def _options(
    target: Target,
    attempt: Attempt,
    trusted: Sequence[asyncssh.SSHKey],
    keys: Sequence[asyncssh.SSHKeyPair],
    deadlines: Deadlines,
    learn: Callable[[list[asyncssh.SSHKey]], None] | None,
) -> dict[str, Any]:
    methods = ["publickey"] if keys else []
    return {
        "client_factory": lambda: attempt,
        "config": None,  # never ~/.ssh/config: what matters of it is in the target
        "username": target.user,
        "known_hosts": (list(trusted), [], []),
        # Known types first, but all: a machine that no longer has its old type must be noticed, not just fail.
        "server_host_key_algs": _algorithms(trusted),
        "server_host_keys_handler": (lambda added, removed, retained, revoked: learn(added)) if learn else None,
        "client_keys": list(keys) or None,
        "agent_path": None,
        "agent_forwarding": False,
        "gss_host": None,
        "x509_trusted_certs": None,
        "x509_trusted_cert_paths": [],
        "preferred_auth": [*methods, "password", "keyboard-interactive"],
        "login_timeout": 0,  # ours counts, because it can wait for a person
        "keepalive_interval": deadlines.keepalive_s,
        "keepalive_count_max": deadlines.keepalive_count,
    }


def _algorithms(trusted: Sequence[asyncssh.SSHKey]) -> list[str]:
    known: list[str] = []
    for key in trusted:
        name = key.get_algorithm()
        known += ["rsa-sha2-512", "rsa-sha2-256"] if name == "ssh-rsa" else [name]
    first = [name for name in known if name in HOST_KEY_ALGORITHMS]
    return list(dict.fromkeys([*first, *HOST_KEY_ALGORITHMS]))


async def _connect_tcp(host: str, port: int) -> socket.socket:
    """A connected socket to the first address that answers; addresses are tried one after the other, overlapping."""
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    waiting = list(dict.fromkeys(infos))
    running: set[asyncio.Task[socket.socket]] = set()
    failure: BaseException = OSError("no address")
    try:
        while waiting or running:
            if waiting:
                family, kind, protocol, _, address = waiting.pop(0)
                running.add(asyncio.create_task(_connect_one(family, kind, protocol, address)))
            done, running = await asyncio.wait(
                running, timeout=_EYEBALLS_S if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                if error is None:
                    running |= done - {task}
                    return task.result()
                failure = error
        raise failure
    finally:
        await _drop(running)


async def _connect_one(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


async def _drop(tasks: set[asyncio.Task[socket.socket]]) -> None:
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, socket.socket):
            outcome.close()
