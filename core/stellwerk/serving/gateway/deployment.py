"""One version of the policy in service, and the pools that outlive versions."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quote

from stellwerk.serving.decision import switchyard
from stellwerk.serving.decision.decide import OVERRIDE_HEADER
from stellwerk.serving.decision.request import SESSION_HEADERS
from stellwerk.serving.decision.shares import ShareKeeper
from stellwerk.serving.decision.state import StateSnapshot
from stellwerk.serving.decision.switchyard import SwitchyardSteps
from stellwerk.serving.decision.types import Decision, Scored
from stellwerk.serving.gateway.address import AddressError, Resolver, address_of
from stellwerk.serving.gateway.counters import Counters, PoolCounters
from stellwerk.serving.gateway.http.message import Head, HttpLimits
from stellwerk.serving.gateway.pool import Pool
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.model import Pool as PoolSpec
from stellwerk.serving.policy.model import SwitchyardStep

_OWN_DESCRIPTORS = 64  # listening, logs, health checks, the event loop


class DeployError(ValueError):
    """A policy that is valid but cannot be put into service here. The text is for people."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a new version needs, made before anything is changed: the swap itself cannot fail."""

    policy: CompiledPolicy
    replicas: Mapping[str, tuple[Replica, ...]]
    switchyard: SwitchyardSteps | None


class Way:
    """One way through the policy to one pool, as answers and log lines name it."""

    __slots__ = ("ending", "lines", "logged", "pool", "text")

    def __init__(self, pool: str, steps: tuple[str, ...]) -> None:
        self.pool = pool
        self.text = ">".join((*steps, pool))
        self.lines = b"x-stellwerk-pool: %b\r\nx-stellwerk-path: %b\r\n" % (_header_text(pool), _header_text(self.text))
        self.ending = self.lines + b"\r\n"  # of a head to which nothing is added
        self.logged = f'"pool":{quote(pool)},"path":{quote(self.text)}'


class Route(Way):
    """A way that requests took: what all answers that came along it have in common."""

    __slots__ = ("answers", "counters", "steps")

    def __init__(self, pool: str, steps: tuple[str, ...], counters: PoolCounters) -> None:
        super().__init__(pool, steps)
        self.steps = steps
        self.counters = counters
        self.answers = 0


class Deployment:
    """A compiled policy with a version, ready to answer. Requests hold on to the one they began with."""

    __slots__ = (
        "_counters", "_routes", "_snapshot", "baseline", "header_names", "log_prompts", "models_body", "policy",
        "pools", "shares", "switchyard", "version",
    )  # fmt: skip

    def __init__(
        self,
        version: int,
        policy: CompiledPolicy,
        pools: dict[str, Pool],
        routes: dict[tuple[str, ...], Route],
        counters: Counters,
    ) -> None:
        self.version = version
        self.policy = policy
        self.pools = pools
        self.switchyard: SwitchyardSteps | None = None  # algorithms of its `switchyard` steps, if it has any
        names = {OVERRIDE_HEADER, *SESSION_HEADERS, *policy.needs.headers}
        self.header_names = {name.encode("latin-1", "replace"): name for name in names}
        self.models_body = _models_body(policy)
        self._snapshot: StateSnapshot | None = None
        self._counters = counters
        self._routes = routes  # shared by all versions, so that counts go on over a reload
        self.shares = ShareKeeper(policy.policy)
        self.log_prompts = policy.policy.gateway.log_prompts
        baseline = policy.policy.gateway.baseline
        self.baseline = policy.pools[baseline].price if baseline is not None else None

    def snapshot(self) -> StateSnapshot:
        """What decide() may know of the pools. Made anew only when something that it shows has changed."""
        snapshot = self._snapshot
        if snapshot is None:
            pools = {name: pool.state() for name, pool in self.pools.items()}
            snapshot = StateSnapshot(pools, self.shares.thresholds())
            if not self.policy.needs.load:
                self._snapshot = snapshot
        return snapshot

    def changed(self) -> None:
        """Readiness, room or a context window of some pool is different now."""
        self._snapshot = None

    def observe(self, scores: tuple[Scored, ...]) -> None:
        """Let the shares of `classify` steps follow what comes in."""
        before = self.shares.thresholds()
        self.shares.observe(scores)
        if self.shares.thresholds() is not before:
            self._snapshot = None

    def retry_after_s(self) -> int:
        """The soonest that any pool is likely to have room."""
        return min(pool.retry_after_s() for pool in self.pools.values())

    def view_headers(self, head: Head) -> dict[str, str]:
        """The headers that the policy looks at, as text."""
        viewed = head.viewed
        if viewed is not None and viewed[0] is self:
            return viewed[1]
        fields, names = head.fields, self.header_names
        found = {names[name]: _field_text(fields[name]) for name in names.keys() & fields.keys()}
        head.viewed = (self, found)
        return found

    def route(self, decision: Decision, pool: str) -> Route:
        """The route of an answer: the way that was decided, and the pool that it came from in the end."""
        key = (*decision.path, pool)
        route = self._routes.get(key)
        if route is None:
            route = self._routes[key] = Route(pool, decision.path, self._counters.pool(pool))
        return route


def _field_text(value: bytes) -> str:
    """Clients send UTF-8, whatever HTTP says; what is none is Latin-1."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _header_text(text: str) -> bytes:
    """Names may be in any script; a header is ASCII, so the rest is written as %XX."""
    return b"".join(
        bytes((byte,)) if 0x21 <= byte <= 0x7E and byte != 0x25 else b"%%%02X" % byte for byte in text.encode("utf-8")
    )


# Of answers that come from no pool: `-` is no name, so it cannot be taken for one.
NOWHERE = Way("-", ())


def _models_body(policy: CompiledPolicy) -> bytes:
    """The answer to /v1/models. Patterns are no names that a client could send, so they are left out."""
    names = [name for name in policy.models if not any(mark in name for mark in "*?[")]
    return json.dumps({"object": "list", "data": [model_entry(name) for name in names]}).encode()


def model_entry(name: str) -> dict[str, object]:
    """One model as OpenAI's API describes it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "stellwerk"}


def plan(
    policy: CompiledPolicy, pools: Mapping[str, Pool], resolve: Resolver, secrets: Mapping[str, str] = os.environ
) -> Plan:
    """Work out the replicas of a new version; those that are there already are kept with all they know.

    Raises:
        DeployError: a replica that cannot be addressed.
    """
    replicas: dict[str, tuple[Replica, ...]] = {}
    for name, spec in policy.pools.items():
        there = {replica.name: replica for replica in pools[name].replicas} if name in pools else {}
        made: list[Replica] = []
        for replica_spec in spec.replicas:
            try:
                address = address_of(replica_spec, resolve, secrets)
            except (AddressError, ValueError) as error:
                raise DeployError(f"Pool {name}: {error}") from error
            old = there.get(replica_spec.name)
            if old is not None and _same_place(old, address.host, address.port, address.base, address.lines):
                made.append(old)
            else:
                made.append(Replica(replica_spec.name, address, spec.max_running, spec.health))
        replicas[name] = tuple(made)
    return Plan(policy, replicas, _switchyard(policy))


def _switchyard(policy: CompiledPolicy) -> SwitchyardSteps | None:
    """Without the package its steps always take their `on_error`."""
    if not any(isinstance(step, SwitchyardStep) for step in policy.policy.steps.values()) or not switchyard.installed():
        return None
    try:
        return switchyard.SwitchyardSteps(policy.policy)
    except switchyard.SwitchyardError as error:
        raise DeployError(str(error)) from error


def _same_place(replica: Replica, host: str, port: int, base: bytes, lines: bytes) -> bool:
    address = replica.address
    return (address.host, address.port, address.base, address.lines) == (host, port, base, lines)


def apply(
    plan: Plan, version: int, pools: Mapping[str, Pool], routes: dict[tuple[str, ...], Route], counters: Counters
) -> tuple[Deployment, list[Replica]]:
    """Swap to a planned version in one step. Returns it with the replicas that are no longer used.

    A pool that stays keeps its queue and counters. A pool that goes is left to those requests that hold it.
    """
    kept: dict[str, Pool] = {}
    dropped: list[Replica] = []
    for name, replicas in plan.replicas.items():
        spec = plan.policy.pools[name]
        pool = pools.get(name)
        if pool is None:
            pool = Pool(spec, list(replicas), _model_json(spec))
        else:
            gone = [replica for replica in pool.replicas if replica not in replicas]
            dropped += gone
            pool.spec, pool.model_json = spec, _model_json(spec)
            pool.replicas = list(replicas)
            for replica in replicas:
                replica.configure(spec.max_running, spec.health)
            pool.recount()
        kept[name] = pool
    for name, pool in pools.items():
        if name not in kept:
            dropped += pool.replicas
    deployment = Deployment(version, plan.policy, kept, routes, counters)
    deployment.switchyard = plan.switchyard
    return deployment, dropped


def limits(policy: CompiledPolicy, descriptors: int | None) -> HttpLimits:
    """What the policy allows, as far as the process has descriptors for it.

    Without room for connections to engines a crowd of clients would make healthy replicas look dead.
    """
    options = policy.policy.gateway
    connections = options.max_connections
    if descriptors is not None:
        towards_engines = sum(pool.max_running * len(pool.replicas) for pool in policy.pools.values())
        spare = descriptors - _OWN_DESCRIPTORS
        connections = min(connections, max(spare - towards_engines, spare // 2, 1))
    return HttpLimits(body_bytes=options.max_body_bytes, connections=connections)


def _model_json(spec: PoolSpec) -> bytes:
    return json.dumps(spec.model, ensure_ascii=False).encode("utf-8", "surrogatepass")
