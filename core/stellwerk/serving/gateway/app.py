"""The gateway: ties policy, pools, connections, clock, counters and log together."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Coroutine, Mapping
from pathlib import Path
from secrets import token_hex
from time import monotonic

from stellwerk.serving.decision.types import Question
from stellwerk.serving.gateway import deployment as deploying
from stellwerk.serving.gateway.address import Resolver, direct
from stellwerk.serving.gateway.admission import Admission, unauthorised
from stellwerk.serving.gateway.counters import Counters
from stellwerk.serving.gateway.deployment import NOWHERE, DeployError, Route
from stellwerk.serving.gateway.dialect import DIALECTS, OPENAI, error_body
from stellwerk.serving.gateway.exchange import Exchange
from stellwerk.serving.gateway.health import HealthMonitor
from stellwerk.serving.gateway.http.connection import ServerConnection
from stellwerk.serving.gateway.http.message import HttpError, Request
from stellwerk.serving.gateway.http.parse import best_parser, parse_pure
from stellwerk.serving.gateway.http.server import HttpServer
from stellwerk.serving.gateway.judge import ask_judge
from stellwerk.serving.gateway.keys import KeyRing, KeysError
from stellwerk.serving.gateway.log import RequestLog
from stellwerk.serving.gateway.pages import Pages
from stellwerk.serving.gateway.polling import BusyPolling, processors
from stellwerk.serving.gateway.reload import PolicyFile
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.gateway.settings import GatewaySettings
from stellwerk.serving.gateway.tls_files import TlsError, TlsFiles
from stellwerk.serving.gateway.upstream import IDLE_S, close_idle
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy

_KEPT_VERSIONS = 10
_WATCH_EVERY_S = 0.5


class Gateway:
    """Life cycle: `start`, any number of `deploy`, `stop`. Belongs to one event loop."""

    def __init__(
        self,
        policy: CompiledPolicy,
        settings: GatewaySettings | None = None,
        *,
        resolve: Resolver = direct,
        secrets: Mapping[str, str] = os.environ,
        policy_path: Path | None = None,
    ) -> None:
        """Raises DeployError, KeysError, OSError: what the settings or the policy name is not there."""
        self.settings = settings or GatewaySettings()
        self.resolve = resolve
        self.secrets = secrets
        self._tls: TlsFiles | None = None
        self.run_id = token_hex(4) + "-"
        self.counters = Counters()
        self.active: set[Exchange] = set()
        self.last_reload_error: str | None = None
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._routes: dict[tuple[str, ...], Route] = {}
        self._history: list[CompiledPolicy] = []
        self._file = PolicyFile(policy_path)
        self._reloading = asyncio.Lock()  # one after the other: an older policy must not come in later
        self._next_watch_s = 0.0
        self._health = HealthMonitor(self.replica_changed)
        self._keys = KeyRing(Path(self.settings.keys_path) if self.settings.keys_path else None)
        plan = deploying.plan(policy, {}, self.resolve, self.secrets)
        self.deployment, _ = deploying.apply(plan, 1, {}, self._routes, self.counters)
        self._admission = self._admit(policy)
        self._polling = BusyPolling(enabled=processors() > 1)
        self.log = RequestLog(self.settings.log_path)
        self._pages = Pages(self)
        self.server = HttpServer(
            self,
            deploying.limits(policy, self.settings.descriptors),
            parser=parse_pure if self.settings.pure_python else best_parser(),
            tick_s=self.settings.tick_s,
            on_tick=self._tick,
        )

    def _admit(self, policy: CompiledPolicy) -> Admission:
        if policy.policy.gateway.require_keys and self._keys.empty:
            where = "" if self.settings.keys_path else ", and name its file with --keys"
            raise DeployError(
                f"The policy requires API keys, but there are none. Make one with `stellwerk key create NAME`{where}."
            )
        return Admission(policy.policy.gateway, self._keys)

    # --- requests -------------------------------------------------------------------------------------------------

    def accept(self, connection: ServerConnection, request: Request) -> HttpError | None:
        """Judge a request by its head (see http.handler.Handler)."""
        verdict = self._admission.judge(request.head, connection.local_host)
        if verdict.caller is not None:
            request.caller = verdict.caller.name
        request.unverified = verdict.unverified
        request.cors = verdict.cors
        return verdict.refusal

    def answer(self, connection: ServerConnection, request: Request) -> None:
        """A request is complete (see http.handler.Handler)."""
        if request.unverified is not None:
            self.spawn(self._verified(connection, request, request.unverified))
            return
        dialect = DIALECTS.get(request.head.path)
        if dialect is None or request.head.method != b"POST":
            self._pages.answer(connection, request)
            return
        self._number += 1
        exchange = Exchange(self, connection, request, dialect, f"{self.run_id}{self._number:x}")
        connection.exchange = exchange
        self.active.add(exchange)
        self._polling.expect()
        try:
            exchange.begin()
        except Exception as error:  # noqa: BLE001 - one broken request must not end a connection without a word
            self._broken(error)
            exchange.crash()

    def _broken(self, error: BaseException) -> None:
        self.log.event("internal_error", error=repr(error))
        self.counters.refused["internal_error"] += 1

    async def _verified(self, connection: ServerConnection, request: Request, key: bytes) -> None:
        """A key that is seen for the first time has been shown: hash it, then go on."""
        caller = await self._keys.verify(key)
        if connection.request is not request:
            return  # the client has left
        if caller is None and self._admission.keys_required:
            self.refuse(connection, request, unauthorised())
            return
        self.accept(connection, request)
        self.answer(connection, request)

    def refuse(self, connection: ServerConnection, request: Request | None, error: HttpError) -> None:
        """Write a refusal (see http.handler.Handler)."""
        self.counters.refused[error.code] += 1
        dialect = DIALECTS.get(request.head.path, OPENAI) if request is not None else OPENAI
        lines = self.page_lines(request) if request is not None else NOWHERE.lines
        if error.status == 401:
            lines += b"www-authenticate: Bearer\r\n"
        if error.status == 503:
            lines += b"retry-after: 5\r\n"
        body = error_body(dialect, error.status, error.code, error.message)
        self.log_other(request, error.status, error.code, len(body))
        connection.respond(error.status, body, lines=lines)

    def log_other(self, request: Request | None, status: int, error: str | None, bytes_out: int) -> None:
        if self.log.active:
            self._number += 1
            self.log.other(f"{self.run_id}{self._number:x}", request, status, error, bytes_out)

    def respond(
        self,
        connection: ServerConnection,
        status: int,
        body: bytes,
        content_type: bytes = b"application/json",
        error: str | None = None,
    ) -> None:
        """Answer one of the gateway's own pages. Nothing is written when the client has left."""
        request = connection.request
        if request is None:
            return
        self.log_other(request, status, error, len(body))
        connection.respond(status, body, content_type, self.page_lines(request))

    def page_lines(self, request: Request) -> bytes:
        """Header lines of the gateway's own for an answer that comes from no pool."""
        return NOWHERE.lines + request.cors

    def why_not_admin(self, connection: ServerConnection, request: Request) -> str | None:
        """May this caller change the policy? None, or why not."""
        if not self.settings.admin:
            return "Changes over HTTP are switched off. Change the policy file, or send SIGHUP."
        if self._admission.keys_required:
            caller = self._admission.judge(request.head, connection.local_host).caller
            return None if caller is not None and caller.admin else "This needs a key made with --admin."
        peer = connection.transport.get_extra_info("peername")
        if isinstance(peer, tuple) and ipaddress.ip_address(str(peer[0]).partition("%")[0]).is_loopback:
            return None
        return "Without API keys this is allowed from the same machine only."

    # --- what exchanges tell and ask --------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run something that must not be lost: it is held until it ends, and cancelled at the stop."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)
        return task

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._broken(task.exception() or RuntimeError())

    async def ask(self, question: Question) -> str:
        """What decide() asks outside this process (see decision.types.Ask)."""
        deployment = self.deployment
        if question.kind == "switchyard" and deployment.switchyard is not None:
            return await deployment.switchyard.choose(question)
        begun_s = monotonic()
        try:
            return await ask_judge(deployment, self.counters, question, self.fault)
        except (OSError, ValueError, asyncio.CancelledError) as error:
            # Cancelled when it is late; before that, because the client has left, which is no fault of the judge.
            late = monotonic() - begun_s > question.timeout_s * 0.98
            if (late or not isinstance(error, asyncio.CancelledError)) and question.pool is not None:
                self.counters.pool(question.pool).failures["judge"] += 1
            raise

    def changed(self) -> None:
        """A pool's readiness, room or window is different: decide() must hear of it."""
        for pool in self.deployment.pools.values():
            pool.recount()
        self.deployment.changed()

    def replica_changed(self, replica: Replica) -> None:
        """It takes more or fewer requests than before."""
        self.log.event("replica", replica=replica.name, state=replica.state, reason=replica.reason)
        self.changed()
        self._pump()
        for exchange in list(self.active):
            exchange.pool_changed()

    def _pump(self) -> None:
        for pool in self.deployment.pools.values():
            if pool.waiting:
                pool.pump()

    def fault(self, replica: Replica, reason: str) -> None:
        """A request failed through the replica's fault."""
        if replica.request_failed(monotonic(), reason):
            close_idle(replica)
            self.replica_changed(replica)

    def drain(self, pool: str, name: str, *, drain: bool) -> Replica | None:
        """Let a replica finish what runs and give it nothing new, or take it back; None if there is no such one."""
        found = self.deployment.pools.get(pool)
        for replica in found.replicas if found is not None else ():
            if replica.name == name:
                if drain:
                    replica.drain()
                    close_idle(replica)
                else:
                    replica.undrain(monotonic())
                self.replica_changed(replica)
                return replica
        return None

    def attempt_failed(self, exchange: Exchange, code: str) -> None:
        assert exchange.route is not None
        self.counters.pool(exchange.route.pool).failures[code] += 1

    def ended(self, exchange: Exchange, now_s: float) -> None:
        """Count and log a finished request."""
        self._polling.expect()
        self.active.discard(exchange)
        route, pool, begun_s = exchange.route, exchange.pool, exchange.request.received_s
        if route is None or pool is None:
            self.counters.refused[exchange.error or "unknown"] += 1
        else:
            route.answers += 1
            counters = route.counters
            counters.statuses[exchange.status] += 1
            given, made = exchange.tokens
            if given or made:
                counters.count_tokens(given or 0, made or 0, pool.spec.price, self.deployment.baseline)
            counters.service.add(now_s - begun_s)
            if exchange.first_byte_s:
                counters.first_byte.add(exchange.first_byte_s - begun_s)
            if exchange.queued_s:
                counters.queued.add(exchange.queued_s)
            else:
                counters.queued.counts[0] += 1
        if self.log.active:
            prompt = exchange.prompt if self.deployment.log_prompts else None
            self.log.exchange(exchange, now_s, prompt)

    def ways(self) -> dict[str, int]:
        """Answers per way through the policy since the start."""
        return {route.text: route.answers for route in self._routes.values()}

    # --- versions ---------------------------------------------------------------------------------------------------

    def deploy(self, policy: CompiledPolicy) -> int:
        """Put a policy into service at once; requests that have begun finish on the one they began with.

        Returns the new version. Raises DeployError, and then nothing has changed.
        """
        previous = self.deployment
        plan = deploying.plan(policy, previous.pools, self.resolve, self.secrets)
        admission = self._admit(policy)
        if policy.revision != previous.policy.revision:  # rolling back to the same text would help nobody
            self._history.append(previous.policy)
        del self._history[:-_KEPT_VERSIONS]
        self._swap(plan, admission)
        return self.deployment.version

    def _swap(self, plan: deploying.Plan, admission: Admission) -> None:
        previous = self.deployment
        self.deployment, dropped = deploying.apply(
            plan, previous.version + 1, previous.pools, self._routes, self.counters
        )
        self.deployment.shares.restore(previous.shares.recent())
        self._admission = admission
        self.server.limits = deploying.limits(plan.policy, self.settings.descriptors)
        for replica in dropped:
            replica.drain()
            close_idle(replica)
        self._watch_health()
        self._pump()
        stay = set(map(id, self.deployment.pools.values()))
        for exchange in list(self.active):
            if exchange.phase == "queued" and id(exchange.pool) not in stay:
                exchange.decide_anew()
        self.counters.reloads["accepted"] += 1
        self.last_reload_error = None
        self.log.event("policy", version=self.deployment.version, revision=plan.policy.revision)

    def roll_back(self) -> int:
        """Put the previous policy back into service, as a new version. Raises DeployError."""
        if not self._history:
            raise DeployError("There is no earlier policy to go back to.")
        policy = self._history[-1]
        plan = deploying.plan(policy, self.deployment.pools, self.resolve, self.secrets)
        admission = self._admit(policy)
        self._history.pop()
        self._swap(plan, admission)
        return self.deployment.version

    async def reload_text(self, text: str) -> int:
        """Check and deploy a policy text. Raises PolicyErrors or DeployError, and then nothing has changed."""
        async with self._reloading:
            return await self._load(text)

    async def _load(self, text: str) -> int:
        try:
            policy = await asyncio.to_thread(load_policy, text)
            return self.deploy(policy)
        except (PolicyErrors, DeployError) as error:
            self._reload_failed(str(error))
            raise

    async def reload_file(self) -> int:
        """Read the policy file again. Raises what reload_text raises, and OSError."""
        async with self._reloading:
            try:
                text = await asyncio.to_thread(self._file.read)
            except OSError as error:
                self._reload_failed(str(error))
                raise
            return await self._load(text)

    def _reload_failed(self, why: str) -> None:
        self.counters.reloads["refused"] += 1
        self.last_reload_error = why
        self.log.event("policy_refused", why=why, still=self.deployment.version)

    async def reload_quietly(self) -> None:
        """For the watcher and for SIGHUP: a broken file is logged, and the old policy goes on."""
        try:
            await self.reload_file()
        except (PolicyErrors, DeployError, OSError):
            return  # logged and counted by _reload_failed

    # --- clock ------------------------------------------------------------------------------------------------------

    def _tick(self, now_s: float) -> None:
        for exchange in list(self.active):
            exchange.check(now_s)
        moved = [replica for pool in self.deployment.pools.values() for replica in pool.replicas if replica.tick(now_s)]
        if moved:
            self.changed()
            self._pump()
        for pool in self.deployment.pools.values():
            for replica in pool.replicas:
                if replica.idle:
                    close_idle(replica, now_s - IDLE_S)
        if now_s >= self._next_watch_s:
            self._next_watch_s = now_s + _WATCH_EVERY_S
            self._watch_files()
        self.log.flush()

    def _watch_files(self) -> None:
        if self.settings.watch_policy and self._file.changed():
            self.spawn(self.reload_quietly())
        try:
            if self._keys.reload_if_changed():
                self._admission.keys_changed()
                if self.settings.watch_policy and self.last_reload_error is not None:  # for want of them, perhaps
                    self.spawn(self.reload_quietly())
        except KeysError as error:
            self.log.event("keys_refused", why=str(error))
        try:
            if self._tls is not None and self._tls.renew_if_changed():
                self.log.event("certificate", file=self.settings.tls_cert)
        except TlsError as error:
            self.log.event("certificate_refused", why=str(error))

    def renew_secrets(self) -> None:
        """Read API keys and certificate again. Raises KeysError, TlsError; what could not be read stays as it was."""
        self._keys.reload()
        self._admission.keys_changed()
        if self._tls is not None:
            self._tls.renew()

    # --- life -------------------------------------------------------------------------------------------------------

    def _watch_health(self) -> None:
        self._health.watch(replica for pool in self.deployment.pools.values() for replica in pool.replicas)

    async def start(self) -> int:
        """Listen and begin to check replicas; returns the port. Raises OSError, TlsError."""
        settings = self.settings
        if settings.tls_cert is not None:
            password = settings.tls_password
            self._tls = TlsFiles(settings.tls_cert, settings.tls_key, None if password is None else lambda: password)
        port = await self.server.start(settings.host, settings.port, self._tls.context if self._tls else None)
        self._watch_health()
        return port

    async def stop(self, drain_s: float | None = None) -> None:
        """Take nothing new, let running answers finish, then end what is left with an error."""
        await self.server.drain(self.settings.drain_s if drain_s is None else drain_s)
        for exchange in list(self.active):
            exchange.stop()
        await self._health.stop()
        await self.server.stop()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for pool in self.deployment.pools.values():
            for replica in pool.replicas:
                close_idle(replica)
        self.log.close()
