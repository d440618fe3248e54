"""Figures for Prometheus. No label has values that a caller chooses freely, but for queues, which are capped.

Counters speak of this process; gauges are looked up in the store when somebody asks, and speak of the whole
installation. So sum counters over all nodes, and take gauges from any one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from litestar import Response, get
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from gnomon.api.call import Call
from gnomon.api.policy import READS
from gnomon.store.reports import Report

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "WS"})
Counts = Callable[[], Mapping[str, int]]

# What the engine of this process counts, under the names that people look for.
_ENGINE = {
    "fired": ("gnomon_scheduler_jobs_dispatched", "Due times that this process fired."),
    "skipped": ("gnomon_schedule_occurrences_skipped", "Due times that this process skipped, by policy."),
    "started": ("gnomon_runs_started", "Attempts that this process started."),
    "completed": ("gnomon_runs_completed", "Executions that this process completed."),
    "failed": ("gnomon_runs_failed", "Executions that ended as dead letters here."),
    "cancelled": ("gnomon_runs_cancelled", "Executions that ended cancelled here."),
    "retried": ("gnomon_run_retries", "Attempts that failed here and will be tried again."),
    "released": ("gnomon_runs_released", "Executions that this process gave back without charge."),
    "reaped": ("gnomon_lease_expired", "Executions that were taken back from silent workers."),
    "refused": ("gnomon_fenced_writes_rejected", "Late writes that the fence turned away."),
    "lost": ("gnomon_leases_lost", "Attempts that were stopped because somebody else owns their execution."),
}


class Metrics:
    """`counts` are those of an engine in this process, if there is one."""

    def __init__(self, counts: Counts = dict) -> None:
        self._registry = CollectorRegistry()
        self._counts = counts
        self._refused = 0
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._requests = Counter(
            "gnomon_http_requests", "Requests.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "gnomon_http_request_seconds", "How long requests took.", ["route"], registry=self._registry
        )

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """A method that nobody offers is not worth a name."""
        counter, histogram = self._children(method, route, status)
        counter.inc()
        histogram.observe(seconds)

    def _children(self, method: str, route: str, status: int) -> tuple[Counter, Histogram]:
        """Remembered, since to find them costs more than to count."""
        found = self._known.get((method, route, status))
        if found is None:
            known = method if method in METHODS else "other"
            found = self._requests.labels(known, route, str(status)), self._seconds.labels(route)
            if known == method:
                self._known[method, route, status] = found
        return found

    def refused(self, count: int) -> None:
        self._refused += count

    def text(self, report: Report, *, now: datetime) -> bytes:
        registry = CollectorRegistry()
        registry.register(_Fixed([*self._engine(), *_gauges(report, now)]))
        return generate_latest(self._registry) + generate_latest(registry)

    def _engine(self) -> list[Metric]:
        counts = dict(self._counts())
        counts["refused"] = counts.get("refused", 0) + self._refused
        families = []
        for word, (name, meaning) in _ENGINE.items():
            family = Metric(name, meaning, "counter")
            family.add_sample(f"{name}_total", {}, counts.get(word, 0))
            families.append(family)
        return families


class _Fixed:
    """What was measured at one moment, as a registry wants it."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def _gauges(report: Report, now: datetime) -> list[Metric]:
    depth = GaugeMetricFamily(
        "gnomon_queue_depth", "Executions that wait, by queue and state.", labels=["queue", "state"]
    )
    oldest = GaugeMetricFamily(
        "gnomon_queue_oldest_age_seconds", "How long the oldest that could run waits.", labels=["queue"]
    )
    for one in report.queues:
        depth.add_metric([one.queue, one.state], one.depth)
        if one.oldest is not None:
            oldest.add_metric([one.queue], (now - one.oldest).total_seconds())
    slots = GaugeMetricFamily("gnomon_worker_slots", "Slots of live workers, by state.", labels=["state"])
    slots.add_metric(["running"], report.running)
    slots.add_metric(["free"], max(report.slots - report.running, 0))
    lag = 0.0 if report.next_run_time is None else max((now - report.next_run_time).total_seconds(), 0.0)
    plain = [
        ("gnomon_dlq_depth", "Dead letters that were not redriven.", report.dead_letters),
        ("gnomon_workers", "Workers that are alive.", report.workers),
        ("gnomon_schedule_lag_seconds", "How old the oldest due time is that nobody has fired.", lag),
    ]
    families: list[Metric] = [depth, oldest, slots]
    families += [GaugeMetricFamily(name, meaning, value=value) for name, meaning, value in plain]
    return families


@get("/metrics", policy=READS, media_type="text/plain")
async def metrics(request: Call) -> Response[bytes]:
    """In the text format of Prometheus."""
    now = request.now
    text = request.metrics.text(await request.reports.now(now), now=now)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


ROUTES: list[Any] = [metrics]
