"""A cluster with its links: what command line and window work on."""

from __future__ import annotations

import asyncio
import getpass
import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from stellwerk.model.errors import BadInput, StellwerkError, SudoFailed
from stellwerk.model.fabric import HearReport
from stellwerk.model.facts import NodeFacts, Sudo
from stellwerk.model.text import say
from stellwerk.remote import (
    ClusterKey,
    Deadlines,
    Desktop,
    LinkState,
    NodeLink,
    PasswordQuestion,
    Prompts,
    Target,
    TrustStore,
    UserIdentity,
    build_agent,
    pair_all,
    parse_target,
    unpair,
)
from stellwerk.remote.pairing import UnpairReport
from stellwerk.setup.outcome import bare
from stellwerk.setup.store import MAX_NODES, Cluster, ClusterFolder, NodeEntry
from stellwerk.telemetry import TelemetryStore

FACTS_DEADLINE_S = 30.0
HEAR_SECONDS = 3.0
SUDO_ATTEMPTS = 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answers:
    """One answer per node, and one error for each node that had none."""

    good: dict[str, Any]
    errors: dict[str, StellwerkError]


class ClusterSession:
    """Owns the links to all nodes of one cluster. Lives in one event loop; `close` leaves no task."""

    def __init__(self, folder: ClusterFolder, cluster: Cluster, desktop: Desktop) -> None:
        self.folder = folder
        self.cluster = cluster
        self.desktop = desktop
        self.links: dict[str, NodeLink] = {}
        self.telemetry = TelemetryStore()
        self._watchers: dict[str, asyncio.Task[None]] = {}
        self._on_state: list[Callable[[str, LinkState, str], None]] = []
        for entry in cluster.nodes:
            self._make_link(entry.name, _target_of(entry))

    @classmethod
    def open(
        cls,
        folder: ClusterFolder,
        cluster: Cluster | None = None,
        *,
        deadlines: Deadlines | None = None,
        identity: UserIdentity | None = None,
    ) -> ClusterSession:
        """The session of a cluster folder, with its own key and its own list of trusted hosts."""
        known = cluster or folder.load()  # first: nothing is made beside a file that cannot be read
        desktop = Desktop(
            trust=TrustStore(folder.known_hosts),
            key=ClusterKey.load_or_create(folder.key_file),
            agent=build_agent(),
            name=socket.gethostname(),
            identity=identity or UserIdentity.from_environment(),
            deadlines=deadlines or Deadlines(),
        )
        return cls(folder, known, desktop)

    async def __aenter__(self) -> ClusterSession:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def on_state(self, callback: Callable[[str, LinkState, str], None]) -> None:
        """Be told of every change of a link: node, state, reason. In this event loop."""
        self._on_state.append(callback)

    def add(self, target: Target, name: str | None = None) -> NodeLink:
        """A machine to pair. Without a name it takes the target's; two machines never share one.

        Raises `BadInput` when the cluster is full.
        """
        for link in self.links.values():
            if (link.target.host, link.target.port) == (target.host, target.port):
                return link
        if len(self.links) >= MAX_NODES:
            raise BadInput(
                say("{target} does not fit in: this cluster has eight nodes", target=target.name),
                why=say("Stellwerk sets up one to eight nodes"),
                remedy=say("Take another one off, or make a second cluster"),
            )
        return self._make_link(self._free_name(_node_name(name or target.name)), target)

    def keep_unpaired(self) -> None:
        """Write down which machines are named and not paired: an address is not to be typed twice."""
        paired = {n.name for n in self.cluster.nodes}
        waiting = tuple(_entry(link) for name, link in self.links.items() if name not in paired)
        if waiting != self.cluster.unpaired:
            self.save(replace(self.cluster, unpaired=waiting))

    def name_unpaired(self) -> None:
        """The machines that were named before and never paired are on the list again; nobody is connected to."""
        for entry in self.cluster.unpaired:
            self.add(_target_of(entry), entry.name)

    def _free_name(self, wanted: str) -> str:
        chosen, count = wanted, 2
        while chosen in self.links:
            chosen, count = f"{wanted}-{count}", count + 1
        return chosen

    def _make_link(self, name: str, target: Target) -> NodeLink:
        link = NodeLink(name, target, self.desktop)
        link.on_state(lambda state, reason: self._tell(link.name, state, reason))
        self.links[name] = link
        return link

    def _tell(self, name: str, state: LinkState, reason: str) -> None:
        for callback in tuple(self._on_state):
            callback(name, state, reason)

    async def pair(self, prompts: Prompts, names: Iterable[str] | None = None) -> dict[str, StellwerkError | None]:
        """Pair (or retry) in parallel and write every machine that is ready into the cluster's file."""
        wanted = list(self.links) if names is None else list(names)
        results = await pair_all([self.links[name] for name in wanted], prompts)
        for name in wanted:
            if results[name] is None:
                own = self._named_by_machine(name)
                if own != name:
                    results[own] = results.pop(name)
                results[own] = await self._remember(own)
        return results

    def _named_by_machine(self, name: str) -> str:
        """A machine that was typed as a bare address takes the name that it has for itself."""
        link = self.links[name]
        known = any(n.name == name for n in self.cluster.nodes)
        if known or not _is_address(name) or link.hello is None or not link.hello.hostname:
            return name
        own = self._free_name(_node_name(link.hello.hostname))
        self.links = {own if key == name else key: value for key, value in self.links.items()}
        link.name = own
        return own

    async def _remember(self, name: str) -> StellwerkError | None:
        """Save a paired machine; the same machine under two addresses is one too many."""
        link = self.links[name]
        assert link.hello is not None, "a ready link has greeted"
        twin = next(
            (n for n in self.cluster.nodes if n.node_id == link.hello.node_id and n.node_id and n.name != name), None
        )
        if twin is not None and twin.name in self.links:
            await link.close()
            del self.links[name]
            return BadInput(
                say("{address} is the same machine as {twin}", address=link.target.address, twin=twin.name),
                node=name,
                why="both report the same machine id",
                remedy="Remove one of the two; machines cloned from one image need new machine ids",
            )
        fingerprint = ", ".join(
            k.get_fingerprint() for k in self.desktop.trust.keys(link.target.host, link.target.port)
        )
        known = next((n for n in self.cluster.nodes if n.name == name), None)
        number = known.number if known else _number_in(name, self.cluster)
        entry = replace(_entry(link), node_id=link.hello.node_id, host_key=fingerprint, number=number)
        self.save(self.cluster.with_node(entry))
        return None

    def save(self, cluster: Cluster) -> None:
        self.folder.save(cluster)
        self.cluster = cluster

    async def connect(self) -> dict[str, StellwerkError | None]:
        """Connect to all machines of the cluster with its key; nobody is asked."""

        async def one(link: NodeLink) -> StellwerkError | None:
            try:
                await link.connect()
            except StellwerkError as error:
                return error
            return None

        links = list(self.links.values())
        results = await asyncio.gather(*(one(link) for link in links))
        return {link.name: error for link, error in zip(links, results, strict=True)}

    @property
    def ready(self) -> tuple[str, ...]:
        """Names of the nodes that answer now, in the cluster's order."""
        return tuple(name for name, link in self.links.items() if link.state is LinkState.READY)

    async def ask_all(
        self,
        method: str,
        params: Mapping[str, Any],
        cls: type[Any] | None,
        deadline_s: float,
        names: Sequence[str] = (),
    ) -> Answers:
        """The same call to all ready nodes at once."""
        wanted = list(names or self.ready)

        async def one(name: str) -> Any:
            try:
                return await self.links[name].call(method, params, cls, deadline_s=deadline_s)
            except StellwerkError as error:
                return error

        results = await asyncio.gather(*(one(name) for name in wanted))
        pairs = list(zip(wanted, results, strict=True))
        return Answers(
            {name: r for name, r in pairs if not isinstance(r, StellwerkError)},
            {name: r for name, r in pairs if isinstance(r, StellwerkError)},
        )

    async def facts(self, names: Sequence[str] = ()) -> dict[str, NodeFacts]:
        """Facts of all ready nodes. Raises the first error: a plan over half the machines would be wrong."""
        answers = await self.ask_all("facts", {}, NodeFacts, FACTS_DEADLINE_S, names)
        if answers.errors:
            raise next(iter(answers.errors.values()))
        for name, facts in answers.good.items():
            self.telemetry.configure(name, {d.netdev: d.name for d in facts.rdma if d.netdev})
        return answers.good

    async def hear(self, seconds: float = HEAR_SECONDS, *, bring_up: bool = False) -> Answers:
        """Let all nodes call and listen at the same time; HearReports by name."""
        params = {"seconds": seconds, "netdevs": None, "token": self.cluster.cluster_id, "bring_up": bring_up}
        return await self.ask_all("hear", params, HearReport, seconds + 20.0)

    async def hold(self, names: Sequence[str] = (), *, force: bool = False) -> None:
        """Keep other desktops off the nodes until `let_go` or `close`: before anything on them is changed.

        Raises `Busy` that names machine and holder; then none is held. `force` takes them over.
        """
        who = f"{getpass.getuser()}@{socket.gethostname()}, cluster {self.folder.path.name}"
        wanted = [self.links[name] for name in names or self.ready]
        results = await asyncio.gather(*(link.hold(who, force=force) for link in wanted), return_exceptions=True)
        for link, error in zip(wanted, results, strict=True):
            if isinstance(error, StellwerkError):
                error.node = error.node or link.name
            if isinstance(error, BaseException):
                await self.let_go()
                raise error

    async def let_go(self) -> None:
        """Let other desktops change the nodes again."""
        await asyncio.gather(*(link.let_go() for link in self.links.values()))

    async def unlock_sudo(self, prompts: Prompts, names: Sequence[str] = ()) -> dict[str, Sudo]:
        """Make root available on the nodes that need a password; ask once and offer the same one to the others.

        Raises what keeps a node from trying a password at all, such as a full disk, when the others have been asked.
        """
        states = (await self.ask_all("sudo.state", {}, Sudo, 20.0, names)).good
        offered: str | None = None
        problem: StellwerkError | None = None
        for name, state in list(states.items()):
            if state.state == "password":
                try:
                    states[name], offered = await self._unlock_one(name, prompts, offered)
                except StellwerkError as error:
                    error.node = error.node or name
                    problem = problem or error
        if problem is not None:
            raise problem
        return states

    async def _unlock_one(self, name: str, prompts: Prompts, offered: str | None) -> tuple[Sudo, str | None]:
        if offered is not None:
            state = await self._try_sudo(name, offered)
            if isinstance(state, Sudo):
                return state, offered
        link = self.links[name]
        why = ""
        for attempt in range(1, SUDO_ATTEMPTS + 1):
            question = PasswordQuestion(link.name, link.target.user, link.target.host, attempt, why)
            password = await prompts.sudo_password(question)
            if password is None:
                return Sudo("password", why or "the sudo password was not given"), None
            state = await self._try_sudo(name, password)
            if isinstance(state, Sudo):
                return state, password if state.unlocked else None
            why = bare(state)
        return Sudo("password", why), None

    async def _try_sudo(self, name: str, password: str) -> Sudo | StellwerkError:
        link = self.links[name]
        try:
            state: Sudo = await link.call("sudo.unlock", {"password": password}, Sudo, deadline_s=30.0)
        except StellwerkError as error:
            # sudo tells a user who is no administrator so only after the right password: no other one will do.
            now = (await self.ask_all("sudo.state", {}, Sudo, 20.0, [name])).good.get(name)
            if isinstance(now, Sudo) and now.state == "none":
                return now
            if not isinstance(error, SudoFailed | BadInput):
                raise  # no other password would do any better
            return error
        return state

    async def forget_sudo(self) -> None:
        """Drop the password on all nodes; called when the wizard ends."""
        await self.ask_all("sudo.forget", {}, None, 10.0)

    def watch(self, rate_hz: float = 1.0) -> None:
        """Keep the telemetry store fed from every node until `close`, over reconnects too."""
        for name, link in self.links.items():
            if name not in self._watchers:
                self._watchers[name] = asyncio.create_task(self._feed(link, rate_hz), name=f"telemetry of {name}")

    async def rewatch(self, rate_hz: float) -> None:
        """Change the sampling rate."""
        await self._stop_watching()
        self.watch(rate_hz)

    async def _feed(self, link: NodeLink, rate_hz: float) -> None:
        loop = asyncio.get_running_loop()
        async for sample in link.subscribe(rate_hz):
            self.telemetry.add(link.name, sample, loop.time())

    async def _stop_watching(self) -> None:
        watchers = list(self._watchers.values())
        self._watchers.clear()
        for task in watchers:
            task.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)

    async def unpair(self, name: str, *, forget_unreachable: bool = False, take_over: bool = False) -> UnpairReport:
        """Take one machine out of the cluster and leave no trace on it.

        Raises `Busy` while another desktop holds it, with the link as it was; `take_over` does it all the same.
        """
        if self.links[name].state is LinkState.READY:
            await self.hold((name,), force=take_over)
        watcher = self._watchers.pop(name, None)
        if watcher is not None:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)
        report = await unpair(self.links[name], forget_unreachable=forget_unreachable)
        del self.links[name]
        self.telemetry.forget(name)
        self.save(self.cluster.without_node(name))
        return await self._forgotten_by_others(report)

    async def _forgotten_by_others(self, report: UnpairReport) -> UnpairReport:
        """Machines that may reach each other forget the one that left."""
        from stellwerk.setup.mesh import mesh_refresh

        try:
            await mesh_refresh(self)
        except StellwerkError as error:
            left = say(
                "its key on the other nodes ({why}); letting them reach each other once more takes it out",
                why=error.what,
            )
            return replace(report, left=(*report.left, left))
        return report

    async def close(self) -> None:
        """End all links; the agents stay where they are."""
        await self._stop_watching()
        await asyncio.gather(*(link.close() for link in self.links.values()))


def _entry(link: NodeLink) -> NodeEntry:
    """How a machine is reached, as it is written down."""
    target = link.target
    jump = ",".join(j.address for j in target.jump)
    return NodeEntry(link.name, target.host, target.port, target.user, jump=jump)


def _target_of(entry: NodeEntry) -> Target:
    target = parse_target(_host_text(entry.host), None, default_user=entry.user or None, jump=entry.jump or "none")
    return replace(target, host=entry.host, port=entry.port, name=entry.name)


def _host_text(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _node_name(text: str) -> str:
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:32]
    return clean or "node"


def _number_in(name: str, cluster: Cluster) -> int:
    """`spark-3` gets number 3 when it is free; 0 lets the cluster choose."""
    match = re.search(r"(\d+)$", name)
    number = int(match.group(1)) if match else 0
    return number if 1 <= number <= 8 and number not in {n.number for n in cluster.nodes} else 0
