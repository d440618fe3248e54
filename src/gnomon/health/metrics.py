"""Figures for Prometheus. Labels have no values that callers choose, but for a hundred queues and tenants.

Counters speak of this process; gauges are looked up in the store when somebody asks, and speak of the whole
installation. So sum counters over all nodes, and take gauges from any one of them.
"""

from __future__ import annotations

from collections import Counter as CountsOf
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE
from prometheus_client.exposition import generate_latest

from gnomon.engine.telemetry import Spans
from gnomon.store.operations.reports import Report

__all__ = ["CONTENT_TYPE", "Inside", "Metrics"]

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "WS"})
ENDS = {"COMPLETED": "completed", "FAILED": "failed", "TIMEOUT": "failed", "CANCELLED": "cancelled"}


@dataclass(frozen=True, slots=True)
class Inside:
    """What the engine of this process tells of itself. Words are those of the tables below."""

    counts: Callable[[], Mapping[str, int]] = dict
    spans: Callable[[], Mapping[str, Spans]] = dict
    gauges: Callable[[], Mapping[str, float | None]] = dict


# What is counted, under the names that people look for: by word, or by the words and what their label says.
_COUNTERS: tuple[tuple[str, str, str, Mapping[str, str]], ...] = (
    ("gnomon_scheduler_jobs_dispatched", "Due times that this process fired.", "", {"fired": ""}),
    ("gnomon_scheduler_errors", "Steps of the scheduler that failed here.", "", {"scheduler_errors": ""}),
    ("gnomon_scheduler_dispatch_failures", "Jobs that could not be fired.", "", {"passed_over": ""}),
    (
        "gnomon_schedule_occurrences",
        "Due times that this process dealt with, by outcome.",
        "outcome",
        {"fired": "fired", "skipped": "skipped"},
    ),
    ("gnomon_jobs_enqueued", "Executions that were made here, by schedule or by call.", "", {"enqueued": ""}),
    ("gnomon_runs_started", "Attempts that this process started.", "", {"started": ""}),
    (
        "gnomon_runs_finished",
        "Executions that ended here, or whose end was told here, by status.",
        "status",
        {"completed": "completed", "failed": "failed", "cancelled": "cancelled"},
    ),
    ("gnomon_run_retries", "Attempts that failed here and will be tried again.", "", {"retried": ""}),
    ("gnomon_runs_released", "Executions that this process gave back.", "", {"released": ""}),
    ("gnomon_lease_expired", "Executions that were taken back from silent workers.", "", {"reaped": ""}),
    ("gnomon_fenced_writes_rejected", "Late writes that the fence turned away.", "", {"refused": ""}),
    ("gnomon_leases_lost", "Attempts that were stopped because another owns their run.", "", {"lost": ""}),
)
_SPANS = {
    "queued": ("gnomon_run_queue_seconds", "How long executions waited, from due to started here."),
    "ran": ("gnomon_run_duration_seconds", "How long attempts ran here."),
    "late": ("gnomon_schedule_lag_seconds", "How late due times were fired here."),
    "polled": ("gnomon_scheduler_polling_latency_seconds", "How long questions for due jobs took here."),
}
_OWN = {
    "last_poll_age": ("gnomon_worker_last_poll_age_seconds", "How long ago the worker here got through."),
    "shards": ("gnomon_partitions_owned", "Shards of the jobs that the scheduler here looks after."),
}


class Metrics:
    def __init__(self, inside: Inside | None = None) -> None:
        self._inside = inside or Inside()
        self._counted: CountsOf[str] = CountsOf()
        self._blocked: defaultdict[str, _Integral] = defaultdict(_Integral)
        # Counted here: with counters of the library, the counting costs as much as a look at the caller.
        self._requests: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self._took: defaultdict[str, Spans] = defaultdict(Spans)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """A method that nobody offers is not worth a name."""
        self._requests[method if method in METHODS else "other", route, status] += 1
        self._took[route].add(seconds)

    def refused(self, count: int) -> None:
        self._counted["refused"] += count

    def enqueued(self, count: int) -> None:
        self._counted["enqueued"] += count

    def finished(self, statuses: Iterable[str]) -> None:
        self._counted.update(ENDS[status] for status in statuses)

    def text(self, report: Report, *, now: datetime) -> bytes:
        for limit, count in report.blocked.items():
            self._blocked[limit].add(count, now)
        return _text([*self._all_own(), *_gauges(report, now)])

    def own_text(self) -> bytes:
        """Of this process alone, where there is no store to ask."""
        return _text(list(self._all_own()))

    def _all_own(self) -> Iterator[Metric]:
        for families in (self._http(), self._counters(), self._histograms(), self._own()):
            yield from families

    def _http(self) -> Iterator[Metric]:
        requests = Metric("gnomon_http_requests", "Requests.", "counter")
        for (method, route, status), count in self._requests.items():
            labels = {"method": method, "route": route, "status": str(status)}
            requests.add_sample("gnomon_http_requests_total", labels, count)
        took = HistogramMetricFamily(
            "gnomon_http_request_seconds", "How long requests took.", labels=["route"]
        )
        for route, spans in self._took.items():
            took.add_metric([route], _buckets(spans), spans.seconds)
        yield from (requests, took)

    def _counters(self) -> Iterator[Metric]:
        counts = self._counted + CountsOf(self._inside.counts())
        counts["enqueued"] += counts["fired"]
        for name, meaning, label, words in _COUNTERS:
            family = Metric(name, meaning, "counter")
            for word, value in words.items():
                family.add_sample(f"{name}_total", {label: value} if label else {}, counts[word])
            yield family
        name = "gnomon_limit_blocked_seconds"
        blocked = Metric(name, "How long due executions waited for a limit.", "counter")
        for limit, waited in self._blocked.items():
            blocked.add_sample(f"{name}_total", {"limit": limit}, waited.seconds)
        yield blocked

    def _histograms(self) -> Iterator[Metric]:
        for word, spans in self._inside.spans().items():
            name, meaning = _SPANS[word]
            yield HistogramMetricFamily(name, meaning, buckets=_buckets(spans), sum_value=spans.seconds)

    def _own(self) -> Iterator[Metric]:
        for word, value in self._inside.gauges().items():
            if value is not None:
                yield GaugeMetricFamily(*_OWN[word], value=value)


def _buckets(spans: Spans) -> list[tuple[str, float]]:
    bounds = [*map(str, spans.BOUNDS), "+Inf"]
    return list(zip(bounds, accumulate(spans.counts), strict=True))


class _Integral:
    """So many for so long, as seen by one who looks from time to time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._count = 0
        self._at: datetime | None = None

    def add(self, count: int, now: datetime) -> None:
        if self._at is not None:
            # Of what was there at both looks, it is likely that it was there between them.
            self.seconds += min(self._count, count) * max((now - self._at).total_seconds(), 0.0)
        self._count, self._at = count, now


def _text(families: list[Metric]) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Fixed(families))
    return generate_latest(registry)


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
        ("gnomon_schedule_overdue_seconds", "How old the oldest due time is that nobody has fired.", lag),
    ]
    dead = GaugeMetricFamily("gnomon_db_dead_tuples", "Rows that wait for a vacuum.", labels=["table"])
    for table, rows in report.dead_rows.items():
        dead.add_metric([table], rows)
    broken = GaugeMetricFamily(
        "gnomon_invariant_violations", "What breaks a promise, ten at most, by check.", labels=["check"]
    )
    for check, count in report.broken.items():
        broken.add_metric([check], count)
    families: list[Metric] = [depth, oldest, slots, dead, broken, _unrunnable(report), _shares(report)]
    families += [GaugeMetricFamily(name, meaning, value=value) for name, meaning, value in plain]
    return families


def _unrunnable(report: Report) -> Metric:
    unrunnable = GaugeMetricFamily(
        "gnomon_unrunnable_executions",
        "Executions that are due and that no live worker can run, by what the workers lack.",
        labels=["lacks"],
    )
    for lack, count in report.unrunnable.items():
        unrunnable.add_metric([lack], count)
    return unrunnable


def _shares(report: Report) -> Metric:
    share = GaugeMetricFamily(
        "gnomon_tenant_share_received_ratio",
        "Of what runs, what a tenant with work has, to what its weight entitles it to.",
        labels=["tenant"],
    )
    weights = sum(one.weight for one in report.tenants)
    running = sum(one.running for one in report.tenants)
    for tenant in report.tenants if running else ():
        share.add_metric([tenant.name], tenant.running / running / (tenant.weight / weights))
    return share
