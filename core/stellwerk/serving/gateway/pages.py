"""Everything that the gateway answers itself: health, models, metrics, stats, explain, reload."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import unquote

from stellwerk.serving.decision.decide import decide_async
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.types import Decision, NoPool
from stellwerk.serving.gateway.admission import preflight_lines
from stellwerk.serving.gateway.body import BodyError, scan_body
from stellwerk.serving.gateway.counters import Histogram
from stellwerk.serving.gateway.deployment import DeployError, model_entry
from stellwerk.serving.gateway.dialect import DIALECTS, OPENAI, error_body
from stellwerk.serving.gateway.http.status import status_line
from stellwerk.serving.gateway.metrics import exposition
from stellwerk.serving.policy.errors import PolicyErrors

if TYPE_CHECKING:
    from stellwerk.serving.gateway.app import Gateway
    from stellwerk.serving.gateway.http.connection import ServerConnection
    from stellwerk.serving.gateway.http.message import Request

_ONE_MODEL = b"/v1/models/"
_LONGEST_NAME = 200
_PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"


class Pages:
    """Path -> (methods, what answers)."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._started_s = monotonic()
        read, write = (b"GET", b"HEAD"), (b"POST",)
        self.table: dict[bytes, tuple[tuple[bytes, ...], Callable[[ServerConnection, Request], None]]] = {
            b"/health": (read, self._health),
            b"/ready": (read, self._ready),
            b"/v1/models": (read, self._models),
            b"/metrics": (read, self._metrics),
            b"/stellwerk/stats": (read, self._stats),
            b"/stellwerk/explain": (write, self._explain),
            b"/stellwerk/reload": (write, self._reload),
            b"/stellwerk/rollback": (write, self._rollback),
            b"/stellwerk/drain": (write, self._drain),
        }

    def answer(self, connection: ServerConnection, request: Request) -> None:
        """Answer what leads to no engine: a page, a wrong path or method, or what a browser asks beforehand."""
        head = request.head
        page = self.table.get(head.path)
        if page is None and head.path.startswith(_ONE_MODEL):
            page = ((b"GET", b"HEAD"), self._model)
        if page is None and head.path not in DIALECTS and head.path != b"*":
            body = error_body(OPENAI, 404, "not_found", "There is nothing at this path.")
            self._gateway.respond(connection, 404, body, error="not_found")
            return
        methods = page[0] if page is not None else (b"POST",)
        if head.method == b"OPTIONS":
            self._answer_options(connection, request, methods)
        elif page is None or head.method not in methods:
            allowed = b", ".join(methods)
            body = error_body(OPENAI, 405, "method_not_allowed", f"Use {allowed.decode()} here.")
            self._gateway.log_other(request, 405, "method_not_allowed", len(body))
            connection.respond(405, body, lines=self._gateway.page_lines(request) + b"allow: %b\r\n" % allowed)
        else:
            page[1](connection, request)

    def _answer_options(self, connection: ServerConnection, request: Request, methods: tuple[bytes, ...]) -> None:
        lines = self._gateway.page_lines(request) + b"allow: %b\r\n" % b", ".join((*methods, b"OPTIONS"))
        if request.cors:
            lines += preflight_lines(request.head)
        end = b"\r\n" if request.keep_alive else b"connection: close\r\n\r\n"
        self._gateway.log_other(request, 204, None, 0)
        connection.transport.write(status_line(204) + lines + end)
        connection.finish()

    def _respond(self, connection: ServerConnection, status: int, value: object) -> None:
        self._gateway.respond(connection, status, json.dumps(value).encode())

    def _error(self, connection: ServerConnection, status: int, code: str, message: str) -> None:
        self._gateway.respond(connection, status, error_body(OPENAI, status, code, message), error=code)

    # --- reading --------------------------------------------------------------------------------------------------

    def _health(self, connection: ServerConnection, request: Request) -> None:
        self._respond(connection, 200, {"status": "ok"})

    def _ready(self, connection: ServerConnection, request: Request) -> None:
        gateway = self._gateway
        pools = {name: pool.proven for name, pool in gateway.deployment.pools.items()}
        ready = any(pools.values()) and not gateway.server.draining
        value = {"ready": ready, "draining": gateway.server.draining, "replicas_ready": pools}
        self._respond(connection, 200 if ready else 503, value)

    def _models(self, connection: ServerConnection, request: Request) -> None:
        self._gateway.respond(connection, 200, self._gateway.deployment.models_body)

    def _model(self, connection: ServerConnection, request: Request) -> None:
        name = unquote(request.head.path[len(_ONE_MODEL) :].decode("ascii"))
        if self._gateway.deployment.policy.target_of(name) is None:
            self._error(connection, 404, "model_not_found", f"No model {name[:_LONGEST_NAME]!r} here.")
        else:
            self._respond(connection, 200, model_entry(name))

    def _metrics(self, connection: ServerConnection, request: Request) -> None:
        text = exposition(self._gateway)
        if text is None:
            self._error(connection, 501, "no_metrics", "Metrics need the package prometheus_client.")
        else:
            self._gateway.respond(connection, 200, text, _PROMETHEUS)

    def _stats(self, connection: ServerConnection, request: Request) -> None:
        self._respond(connection, 200, stats(self._gateway, monotonic() - self._started_s))

    # --- explaining -----------------------------------------------------------------------------------------------

    def _explain(self, connection: ServerConnection, request: Request) -> None:
        self._gateway.spawn(self._explained(connection, request))

    async def _explained(self, connection: ServerConnection, request: Request) -> None:
        gateway = self._gateway
        deployment = gateway.deployment
        try:
            model = scan_body(request.body).model
        except BodyError as error:
            self._error(connection, 400, "invalid_body", str(error))
            return
        view = RequestView(
            model, request.body, headers=deployment.view_headers(request.head), api_key=request.caller,
            request_id="explain",
        )  # fmt: skip
        try:
            decision = await decide_async(deployment.policy, view, deployment.snapshot(), gateway.ask, explain=True)
        except NoPool as error:
            value: dict[str, object] = {"pool": None, "error": error.kind, "message": str(error)}
            value["hops"] = [_hop(hop) for hop in error.hops]
        else:
            value = explanation(decision)
        if connection.request is request:
            self._respond(connection, 200, {**value, "policy": {"version": deployment.version}})

    # --- changing -------------------------------------------------------------------------------------------------

    def _may_change(self, connection: ServerConnection, request: Request) -> bool:
        refusal = self._gateway.why_not_admin(connection, request)
        if refusal is not None:
            self._error(connection, 403, "not_allowed", refusal)
        return refusal is None

    def _reload(self, connection: ServerConnection, request: Request) -> None:
        if self._may_change(connection, request):
            self._gateway.spawn(self._reloaded(connection, request))

    async def _reloaded(self, connection: ServerConnection, request: Request) -> None:
        """A body is the text of a policy; without one the file is read again."""
        gateway = self._gateway
        try:
            if request.body:
                await gateway.reload_text(request.body.decode("utf-8"))
            else:
                await gateway.reload_file()
        except PolicyErrors as error:
            problems = [
                {"line": problem.line, "column": problem.column, "card": problem.card, "what": problem.what,
                 "remedy": problem.remedy}
                for problem in error.problems
            ]  # fmt: skip
            value = {"error": {"message": str(error), "type": "invalid_policy", "code": "invalid_policy"}}
            if connection.request is request:
                self._respond(connection, 422, {**value, "problems": problems})
        except (DeployError, OSError, UnicodeDecodeError) as error:
            if connection.request is request:
                self._error(connection, 422, "invalid_policy", str(error))
        else:
            if connection.request is request:
                self._respond(connection, 200, _version(gateway))

    def _drain(self, connection: ServerConnection, request: Request) -> None:
        """`{"pool": "small", "replica": "spark-1:8000", "drain": true}`; false takes it back into service."""
        if not self._may_change(connection, request):
            return
        try:
            order = json.loads(request.body)
            pool, name, drain = str(order["pool"]), str(order["replica"]), bool(order.get("drain", True))
        except (ValueError, KeyError, TypeError, AttributeError):
            self._error(connection, 400, "invalid_body", 'The body must be {"pool": …, "replica": …, "drain": true}.')
            return
        replica = self._gateway.drain(pool, name, drain=drain)
        if replica is None:
            self._error(connection, 404, "unknown_replica", f"There is no replica {name} in a pool {pool}.")
        else:
            value = {"replica": replica.name, "state": replica.state, "running": replica.running}
            self._respond(connection, 200, value)

    def _rollback(self, connection: ServerConnection, request: Request) -> None:
        if not self._may_change(connection, request):
            return
        try:
            self._gateway.roll_back()
        except DeployError as error:
            self._error(connection, 409, "nothing_to_roll_back", str(error))
        else:
            self._respond(connection, 200, _version(self._gateway))


def _version(gateway: Gateway) -> dict[str, object]:
    deployment = gateway.deployment
    return {"version": deployment.version, "revision": deployment.policy.revision}


def _hop(hop: object) -> dict[str, object]:
    return {name: getattr(hop, name) for name in ("step", "kind", "label", "to", "why")}


def explanation(decision: Decision) -> dict[str, object]:
    """A decision for people and for the editor."""
    return {
        "pool": decision.pool,
        "path": decision.path_text,
        "candidates": list(decision.candidates),
        "reasons": list(decision.reasons),
        "hops": [_hop(hop) for hop in decision.hops],
        "skipped": [{"pool": pool, "reason": reason} for pool, reason in decision.skipped],
        "scores": [
            {"step": scored.step, "classifier": scored.classifier, "score": scored.score, "label": scored.label,
             "features": [list(feature) for feature in scored.features]}
            for scored in decision.scores
        ],
    }  # fmt: skip


def _quantiles(histogram: Histogram) -> dict[str, object]:
    return {"count": histogram.count, "p50_s": histogram.quantile(0.5), "p95_s": histogram.quantile(0.95)}


def stats(gateway: Gateway, uptime_s: float) -> dict[str, object]:
    """Counters and states, for the window and for people. Times in seconds; quantiles are bucket limits."""
    pools: dict[str, object] = {}
    for name, pool in gateway.deployment.pools.items():
        counters = gateway.counters.pool(name)
        pools[name] = {
            "model": pool.spec.model,
            "ready": pool.ready,
            "running": pool.running,
            "waiting": pool.waiting,
            "slots": pool.slots,
            "context_window": min(filter(None, (pool.learned_window, pool.spec.context_window)), default=None),
            "statuses": {str(status): count for status, count in counters.statuses.items()},
            "failures": dict(counters.failures),
            "input_tokens": counters.input_tokens,
            "output_tokens": counters.output_tokens,
            "judge_tokens": counters.judge_tokens,
            "cost": counters.cost,
            "saved": counters.saved,
            "service": _quantiles(counters.service),
            "first_byte": _quantiles(counters.first_byte),
            "queued": _quantiles(counters.queued),
            "replicas": [
                {
                    "name": replica.name,
                    "state": replica.state,
                    "reason": replica.reason,
                    "running": replica.running,
                    "slots": replica.slots,
                    "answered": replica.answered,
                    "failed": replica.failed,
                }
                for replica in pool.replicas
            ],
        }
    every = gateway.counters.pools.values()
    return {
        "cost": sum(counters.cost for counters in every),
        "saved": sum(counters.saved for counters in every),
        "policy": {**_version(gateway), "last_error": gateway.last_reload_error},
        "uptime_s": uptime_s,
        "connections": len(gateway.server.connections),
        "active": len(gateway.active),
        "tasks": len(asyncio.all_tasks()),
        "draining": gateway.server.draining,
        "pools": pools,
        "ways": gateway.ways(),
        "refused": dict(gateway.counters.refused),
        "reloads": dict(gateway.counters.reloads),
        "log_lines_lost": gateway.log.lost,
    }
