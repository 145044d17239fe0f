"""The steps from an address to an attached agent, each reported with its state; used to pair and to connect again."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

import asyncssh

from stellwerk.model.errors import LoginFailed
from stellwerk.model.text import Text, say
from stellwerk.remote.artefact import Artefact
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.failures import cleaned, lost
from stellwerk.remote.identity import UserIdentity
from stellwerk.remote.install import install_agent, install_key, remove_key, why_key_is_refused
from stellwerk.remote.keys import ClusterKey
from stellwerk.remote.login import Credentials, Login
from stellwerk.remote.node_python import NodePython
from stellwerk.remote.prompts import Prompts
from stellwerk.remote.session import Session, attach, close_all
from stellwerk.remote.target import Target
from stellwerk.remote.trust import TrustStore


class LinkState(enum.Enum):
    """Where a node is on its way, in the words that people see."""

    FOUND = "found"
    CHECKING_KEY = "checking key"
    LOGGING_IN = "logging in"
    INSTALLING_AGENT = "installing agent"
    READY = "ready"
    RECONNECTING = "reconnecting"
    NEEDS_ATTENTION = "needs attention"
    CLOSED = "closed"

    @property
    def word(self) -> Text:
        """As it stands in a sentence."""
        return _STATE_WORDS[self.value]


_STATE_WORDS = {
    "found": say("found"),
    "checking key": say("checking key"),
    "logging in": say("logging in"),
    "installing agent": say("installing agent"),
    "ready": say("ready"),
    "reconnecting": say("reconnecting"),
    "needs attention": say("needs attention"),
    "closed": say("closed"),
}


Report = Callable[[LinkState, str], None]


@dataclass(frozen=True, slots=True)
class Desktop:
    """What this computer brings to every node of a cluster."""

    trust: TrustStore
    key: ClusterKey
    agent: Artefact
    name: str = "desktop"  # shown on the node while its lock is held
    identity: UserIdentity = field(default_factory=UserIdentity)  # the user's own keys, for the first login
    deadlines: Deadlines = field(default_factory=Deadlines)


@dataclass(slots=True)
class Opening:
    """One attempt to get from an address to an attached agent. With `prompts` it pairs, without it only connects."""

    node: str
    target: Target
    desktop: Desktop
    prompts: Prompts | None
    report: Report
    _connections: list[asyncssh.SSHClientConnection] = field(default_factory=list)

    async def run(self) -> Session:
        """The attached agent. Raises the errors of `model.errors`; whatever was opened is closed then."""
        try:
            await self._through_jumps()
            await self._log_in()
            return await self._install_and_attach()
        except BaseException as error:
            await close_all(self._connections, self.desktop.deadlines)
            if isinstance(error, (asyncssh.Error, OSError)):
                raise lost(self.node, cleaned(str(error))) from None
            raise

    async def _through_jumps(self) -> None:
        """A jump host gets neither key nor agent: it is reached with what the user has for it."""
        for hop in self.target.jump:
            self.report(LinkState.CHECKING_KEY, say("through the jump host {host}", host=hop.host))
            credentials = Credentials(self.desktop.trust, None, self.desktop.identity, self.prompts)
            name = say("{node}, jump host {host}", node=self.node, host=hop.host)
            await self._open(Login(name, hop, credentials, self.desktop.deadlines))

    async def _log_in(self) -> None:
        self.report(LinkState.CHECKING_KEY, say("connecting to {host}", host=self.target.host))
        pairing = self.prompts is not None
        credentials = Credentials(
            self.desktop.trust, self.desktop.key, self.desktop.identity if pairing else None, self.prompts
        )
        await self._open(self._login(credentials))
        if pairing:
            await self._install_key()

    async def _install_key(self) -> None:
        """Let the cluster's key in and prove it with a second login, before the first is given up."""
        python = self._python()
        await python.run("look", agent_name="", agent_sha256="")  # no usable python3: nothing is changed there
        self.report(LinkState.LOGGING_IN, "installing this cluster's key")
        added = await install_key(python, self.desktop.key)
        first = self._connections.pop()
        try:
            await self._open(self._login(Credentials(self.desktop.trust, self.desktop.key)))
        except LoginFailed:
            refused = await why_key_is_refused(python, self.node, self.target.user)
            if added:
                await remove_key(python, self.desktop.key)
            raise refused from None
        finally:
            await close_all([first], self.desktop.deadlines)

    async def _install_and_attach(self) -> Session:
        self.report(LinkState.INSTALLING_AGENT, "checking python3 and the agent")
        await install_agent(
            self._connections[-1],
            self._python(),
            self.desktop.agent,
            self.node,
            self.desktop.deadlines,
            lambda percent: self.report(
                LinkState.INSTALLING_AGENT, say("sending the agent, {percent} %", percent=percent)
            ),
        )
        self.report(LinkState.INSTALLING_AGENT, "starting the agent")
        return await attach(self._connections, self.desktop.agent, self.node, self.desktop.name, self.desktop.deadlines)

    def _login(self, credentials: Credentials) -> Login:
        return Login(
            self.node,
            self.target,
            credentials,
            self.desktop.deadlines,
            on_trusted=lambda: self.report(LinkState.LOGGING_IN, say("logging in as {user}", user=self.target.user)),
        )

    async def _open(self, login: Login) -> None:
        login.via = self._connections[-1] if self._connections else None
        self._connections.append(await login.run())

    def _python(self) -> NodePython:
        return NodePython(self._connections[-1], self.node, self.desktop.deadlines.command_s)
