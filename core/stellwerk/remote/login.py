"""Logs in to a node: asks about an unknown host key, tries the cluster's key, the user's keys, then a password."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import asyncssh

from stellwerk.model.errors import Cancelled, HostKeyUnknown, LoginFailed, StellwerkError
from stellwerk.model.text import joined, say, whole
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.dial import Answers, Attempt, DialError, dial
from stellwerk.remote.failures import cleaned, explain
from stellwerk.remote.identity import Keys, UserIdentity, user_keys
from stellwerk.remote.keys import ClusterKey
from stellwerk.remote.prompts import PasswordQuestion, Prompts
from stellwerk.remote.target import Target
from stellwerk.remote.trust import HostKey, HostKeyAlarmError, HostKeyQuestion, Trust, TrustStore

log = logging.getLogger("stellwerk.remote.login")

# OpenSSH hangs up after six failed attempts, and every key that it does not know is one.
_KEYS_PER_CONNECTION = 5
_MAX_KEYS = 15
_MAX_PASSWORDS = 3


@dataclass(frozen=True, slots=True)
class Credentials:
    """What may be used to log in. Without `prompts` nobody is asked anything; without `identity` no key of the user
    is tried, not even one that the target names."""

    trust: TrustStore
    cluster_key: ClusterKey | None = None
    identity: UserIdentity | None = None
    prompts: Prompts | None = None


@dataclass(slots=True)
class Login:
    """A way to one node, and what it is called on the screen."""

    node: str
    target: Target
    credentials: Credentials
    deadlines: Deadlines
    via: asyncssh.SSHClientConnection | None = None
    on_trusted: Callable[[], None] | None = None  # called when the host key is known and the login begins
    _methods: set[str] = field(default_factory=set)

    async def run(self) -> asyncssh.SSHClientConnection:
        """A connection that is logged in. Raises `HostKeyUnknown`, `HostKeyChanged`, `LoginFailed`,
        `ConnectionFailed`, `Cancelled`."""
        cluster = self.credentials.cluster_key
        async with user_keys(self.credentials.identity, self.target) as own:
            first = asyncssh.load_keypairs([cluster.private]) if cluster else []
            connection = await self._with_keys([*first, *own.pairs][:_MAX_KEYS])
            if connection is None:
                connection = await self._with_password(own)
            return connection

    async def _with_keys(self, pairs: Sequence[asyncssh.SSHKeyPair]) -> asyncssh.SSHClientConnection | None:
        """Offer keys, few per connection; `None` when none was accepted. At least one connection is made: it shows
        the host key and which methods the machine has."""
        batches = [pairs[i : i + _KEYS_PER_CONNECTION] for i in range(0, len(pairs), _KEYS_PER_CONNECTION)] or [()]
        for batch in batches:
            try:
                return await self._dial(batch, Answers())
            except LoginFailed:
                continue  # the next batch, then a password; the last failure is explained there
        return None

    async def _with_password(self, own: Keys) -> asyncssh.SSHClientConnection:
        if not self._methods:
            # It hung up on the keys before it said what else it takes: ask it once without any.
            try:
                return await self._dial((), Answers())
            except LoginFailed:
                if not self._methods:
                    raise self._nothing_fits(own, "The machine accepts keys only, and none of yours") from None
        if self.credentials.prompts is None:
            raise self._nothing_fits(own, "None of the keys was accepted")
        why = ""
        for attempt in range(1, _MAX_PASSWORDS + 1):
            answers = _Secrets(self, self.credentials.prompts, attempt, why)
            await answers.ask_first()
            try:
                return await self._dial((), answers)
            except LoginFailed:
                answers.raise_if_given_up()
                why = "the last answer was not accepted"
        raise LoginFailed(
            say("{user} could not log in at {host}", user=self.target.user, host=self.target.host),
            node=self.node,
            why=say("{max_passwords} passwords were not accepted", max_passwords=_MAX_PASSWORDS),
            remedy=say(
                "Check the user name and the password in a terminal: {ssh_command}", ssh_command=self.target.ssh_command
            ),
        )

    def takes_passwords(self) -> bool:
        """Whether the machine has the method "password" (else only keyboard-interactive)."""
        return "password" in self._methods

    def _nothing_fits(self, own: Keys, why: str) -> LoginFailed:
        return LoginFailed(
            say("{user} could not log in at {host}", user=self.target.user, host=self.target.host),
            node=self.node,
            why=say("{why} ({notes})", why=whole(why), notes=joined(own.notes, "; ")) if own.notes else why,
            remedy="Use a key that it knows (ssh-agent, IdentityFile), or allow PasswordAuthentication there",
        )

    async def _dial(self, pairs: Sequence[asyncssh.SSHKeyPair], answers: Answers) -> asyncssh.SSHClientConnection:
        """One attempt; when the host key is unknown, a person is asked and it is made again."""
        asked = False
        while True:
            trusted = self._trusted()
            if trusted and self.on_trusted is not None:
                self.on_trusted()
            try:
                connection, attempt = await dial(
                    self.target,
                    trusted=trusted,
                    keys=pairs,
                    answers=answers,
                    deadlines=self.deadlines,
                    via=self.via,
                    learn=self._learn,
                )
            except DialError as failure:
                self._note(failure.attempt)
                shown = failure.attempt.unknown_key if failure.attempt else None
                if shown is None or asked:
                    raise self._explained(failure) from None
                await self._ask_about(shown)
                asked = True
            else:
                self._note(attempt)
                return connection

    def _explained(self, failure: DialError) -> StellwerkError:
        return explain(failure, self.node, self.target, self.deadlines)

    def _note(self, attempt: Attempt | None) -> None:
        if attempt is not None:
            self._methods |= attempt.asked_methods

    def _trusted(self) -> tuple[asyncssh.SSHKey, ...]:
        return self.credentials.trust.keys(self.target.host, self.target.port)

    def _learn(self, added: list[asyncssh.SSHKey]) -> None:
        try:
            self.credentials.trust.learn(self.target.host, self.target.port, added)
        except StellwerkError as error:
            # The connection is fine without it; the keys are offered again next time.
            log.warning("%s: further host keys were not written down: %s", self.node, error)

    async def _ask_about(self, shown: asyncssh.SSHKey) -> None:
        trust, host, port = self.credentials.trust, self.target.host, self.target.port
        if trust.judge(host, port, shown) is Trust.CHANGED:
            raise HostKeyAlarmError(trust.alarm(self.node, host, port, shown))
        question = HostKeyQuestion(self.node, host, port, HostKey.of(shown))
        if self.credentials.prompts is not None and await self.credentials.prompts.confirm_host_key(question):
            trust.accept(question)
            return
        raise HostKeyUnknown(
            say("the host key of {host} is not trusted", host=host),
            node=self.node,
            why=say(
                "It shows {fingerprint} ({kind}), and nobody confirmed it",
                fingerprint=question.key.fingerprint,
                kind=question.key.kind,
            ),
            remedy=say("Run `{command}` on the machine itself and compare", command=question.command),
        )


class _Secrets(Answers):
    """Answers with what a person types. The secret lives in this object for one connection and nowhere else."""

    def __init__(self, login: Login, prompts: Prompts, attempt: int, why: str) -> None:
        self._login = login
        self._prompts = prompts
        self._question = PasswordQuestion(login.node, login.target.user, login.target.host, attempt, why)
        self._secret: str | None = None
        self._sent = False
        self._refused = False
        self._prompted = False
        self._given_up = False

    def __repr__(self) -> str:
        return "<answers to a login>"

    async def ask_first(self) -> None:
        """Ask for the password before connecting: a machine hangs up on logins that take long."""
        if self._login.takes_passwords():
            self._secret = await self._prompts.password(self._question)
            self._given_up = self._secret is None
            self.raise_if_given_up()

    def raise_if_given_up(self) -> None:
        """Raises `Cancelled` when the person did not want to answer, `LoginFailed` after a refused answer."""
        if self._given_up and self._question.attempt > 1:
            target = self._login.target
            raise LoginFailed(
                say("{user} could not log in at {host}", user=target.user, host=target.host),
                node=self._login.node,
                why="The machine refused the password, and no other one was given",
                remedy=say(
                    "Check the user name and the password in a terminal: {ssh_command}", ssh_command=target.ssh_command
                ),
            )
        if self._given_up:
            raise Cancelled(
                "no password was given", node=self._login.node, remedy="Pair the machine again when you have it"
            )

    async def password(self) -> str | None:
        """Once: a second request means that the machine said no."""
        if self._sent:
            self._refused = True
            return None
        self._sent = True
        return self._secret

    async def wants_prompts(self) -> bool:
        """As the only method or as second factor, but not to repeat a password that was refused a moment ago."""
        if self._refused or self._prompted:
            return False
        self._prompted = True
        return True

    async def prompts(self, instructions: str, prompts: Sequence[tuple[str, bool]]) -> list[str] | None:
        """Every question goes to the person in the machine's own words: it may want a code, not the password."""
        answers: list[str] = []
        for text, echo in prompts:
            answer = await self._ask(cleaned(f"{instructions} {text}" if instructions else text), echo)
            if answer is None:
                self._given_up = True
                return None
            answers.append(answer)
        return answers

    async def _ask(self, prompt: str, echo: bool) -> str | None:
        question = self._question
        return await self._prompts.password(
            PasswordQuestion(question.node, question.user, question.host, question.attempt, question.why, prompt, echo)
        )
