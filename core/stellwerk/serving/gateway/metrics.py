"""The counters in Prometheus' form. They are plain numbers; this reads them when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stellwerk.serving.gateway.counters import Histogram

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from stellwerk.serving.gateway.app import Gateway


class Collector:
    """What `prometheus_client` asks at every scrape."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        gateway = self._gateway
        yield from self._pools()
        yield from self._replicas()
        yield from self._totals()
        plain = (
            ("connections", "Open client connections", len(gateway.server.connections)),
            ("requests_active", "Requests being worked on", len(gateway.active)),
            ("policy_version", "Number of the policy version in service", gateway.deployment.version),
        )
        for name, text, value in plain:
            yield GaugeMetricFamily(f"stellwerk_{name}", text, value=value)

    def _pools(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily("stellwerk_requests", "Answers by pool and status", labels=("pool", "status"))
        failures = CounterMetricFamily(
            "stellwerk_attempts_failed", "Attempts that gave nothing, by pool and reason", labels=("pool", "reason")
        )
        tokens = CounterMetricFamily("stellwerk_tokens", "Tokens by pool and kind", labels=("pool", "kind"))
        cost = CounterMetricFamily("stellwerk_cost", "Cost by the policy's prices", labels=("pool",))
        # A pool that is dearer than the baseline makes this fall, and so does every question to a judge.
        saved = GaugeMetricFamily("stellwerk_saved", "Saved against the baseline pool", labels=("pool",))
        times = {
            "service": HistogramMetricFamily("stellwerk_request_seconds", "Whole request", labels=("pool",)),
            "first_byte": HistogramMetricFamily("stellwerk_first_byte_seconds", "To the first byte", labels=("pool",)),
            "queued": HistogramMetricFamily("stellwerk_queued_seconds", "Waiting for a replica", labels=("pool",)),
        }
        for name, counters in self._gateway.counters.pools.items():
            for status, count in counters.statuses.items():
                requests.add_metric((name, str(status)), count)
            for reason, count in counters.failures.items():
                failures.add_metric((name, reason), count)
            tokens.add_metric((name, "input"), counters.input_tokens)
            tokens.add_metric((name, "output"), counters.output_tokens)
            tokens.add_metric((name, "judge"), counters.judge_tokens)
            cost.add_metric((name,), counters.cost)
            saved.add_metric((name,), counters.saved)
            for kind, family in times.items():
                _add(family, name, getattr(counters, kind))
        yield from (requests, failures, tokens, cost, saved, *times.values())
        running = GaugeMetricFamily("stellwerk_running", "Requests at the engines", labels=("pool",))
        waiting = GaugeMetricFamily("stellwerk_waiting", "Requests in the queue", labels=("pool",))
        for name, pool in self._gateway.deployment.pools.items():
            running.add_metric((name,), pool.running)
            waiting.add_metric((name,), pool.waiting)
        yield from (running, waiting)

    def _replicas(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        up = GaugeMetricFamily("stellwerk_replica_up", "1 when it takes requests", labels=("pool", "replica", "state"))
        for name, pool in self._gateway.deployment.pools.items():
            for replica in pool.replicas:
                up.add_metric((name, replica.name, replica.state), float(replica.slots > 0))
        yield up

    def _totals(self) -> Iterator[Metric]:
        from prometheus_client.core import CounterMetricFamily

        ways = CounterMetricFamily("stellwerk_ways", "Answers by way through the policy", labels=("path",))
        for text, count in self._gateway.ways().items():
            ways.add_metric((text,), count)
        refused = CounterMetricFamily("stellwerk_refused", "Requests that reached no pool", labels=("reason",))
        for reason, count in self._gateway.counters.refused.items():
            refused.add_metric((reason,), count)
        reloads = CounterMetricFamily("stellwerk_reloads", "Policy changes by result", labels=("result",))
        for result, count in self._gateway.counters.reloads.items():
            reloads.add_metric((result,), count)
        yield from (ways, refused, reloads)


def _add(family: object, pool: str, histogram: Histogram) -> None:
    buckets: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip((*map(str, histogram.bounds), "+Inf"), histogram.counts, strict=True):
        seen += count
        buckets.append((bound, seen))
    family.add_metric((pool,), buckets, histogram.total)  # type: ignore[attr-defined]


def exposition(gateway: Gateway) -> bytes | None:
    """The text for a scrape; None where prometheus_client is not installed."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ImportError:
        return None
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(gateway))
    return generate_latest(registry)
