"""The jobs of a campaign: every way to be due, to overlap, to fail and to take long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from gnomon.client import Draft
from gnomon.core.jobs.job import Definition, Delivery
from gnomon.core.jobs.retry import Backoff, RetryPolicy
from gnomon.core.time.schedule import CronTiming, Interval, Manual, Misfire, Overlap, Schedule, Timing
from gnomon.core.values.document import Document
from proof.campaign.plan import WORKERS

QUEUES = ("default", "slow", "urgent")
SOON = RetryPolicy(max_attempts=6, backoff=Backoff.FIXED, backoff_base=timedelta(seconds=1))
POISON = RetryPolicy(max_attempts=2, backoff_base=timedelta(seconds=1), jitter=0.2)
ONCE = RetryPolicy(max_attempts=1)
CATCHUP_MAX = 10_000
TICKS = (1, 2, 2, 3, 3, 4, 5, 5, 7, 10)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")
RUN_EXTRA = 10.0  # Beside what the work itself takes: a checkpoint that waits for the store, the sink.


@dataclass(frozen=True, slots=True)
class Work:
    """A job, what the checker is told about it, and how often the clients ask for it."""

    draft: Draft
    seconds: float
    effect: str = "fenced"
    share: float = 0.0

    @property
    def run_max(self) -> float:
        return self.seconds + RUN_EXTRA


def works(*, lease: float) -> Sequence[Work]:
    return [*_scheduled(), *_overlapping(), *_asked_for(lease)]


def _scheduled() -> Sequence[Work]:
    ticks = [
        _work(
            f"every-{every}-s-{number}",
            timing=Interval(timedelta(seconds=every)),
            misfire=Misfire.FIRE_ALL,
            queue=QUEUES[number % 3],
            fenced=number % 2 == 0,
        )
        for number, every in enumerate(TICKS)
    ]
    crons = [
        _work(f"cron-{misfire}", timing=CronTiming("* * * * *", zone), misfire=misfire)
        for misfire, zone in zip(Misfire, ZONES, strict=True)
    ]
    shifted = _work(
        "rescheduled",
        timing=Interval(timedelta(seconds=5)),
        misfire=Misfire.RESCHEDULE,
        grace=timedelta(seconds=1),
    )
    # Something is always on its way: whoever is stopped or sent home has to let go of it.
    lasting = [
        _work(
            f"lasting-{seconds:g}-s", timing=Interval(timedelta(seconds=every)), seconds=seconds, queue=queue
        )
        for every, seconds, queue in ((6, 12.0, "slow"), (3, 2.5, "default"), (4, 7.0, "urgent"))
    ]
    # And each worker has a queue of its own: who lives, shows it.
    pings = [
        _work(f"ping-{worker}", timing=Interval(timedelta(seconds=5)), queue=worker) for worker in WORKERS
    ]
    return [*ticks, *crons, shifted, *lasting, *pings]


def _overlapping() -> Sequence[Work]:
    return [
        _work(
            f"overlap-{overlap}",
            timing=Interval(timedelta(seconds=every)),
            overlap=overlap,
            misfire=Misfire.FIRE_NOW,
            seconds=seconds,
            queue="slow",
        )
        for overlap, every, seconds in (
            (Overlap.SKIP, 4, 5.0),
            (Overlap.QUEUE, 10, 1.0),
            (Overlap.REPLACE, 8, 9.0),
        )
    ]


def _asked_for(lease: float) -> Sequence[Work]:
    """Shares are parts of all that the clients ask for."""
    return [
        _work("plain", share=40),
        _work("threaded", function="work_in_a_thread", seconds=0.3, share=8),
        _work("flaky", fails=0.4, retry=SOON, share=12),
        _work("poison", fails=1.0, retry=POISON, share=2),
        _work("hopeless", fails=0.3, permanently=0.4, retry=SOON, share=2),
        _work("stepwise", seconds=4.0, steps=4, retry=SOON, share=6),
        _work("at-most-once", seconds=0.5, delivery=Delivery.AT_MOST_ONCE, share=6),
        _work("two-at-a-time", seconds=0.4, max_concurrent=2, retry=SOON, share=6),
        _work("times-out", seconds=4.0, timeout=timedelta(seconds=2), retry=POISON, queue="slow", share=1),
        _work("unwanted", seconds=20.0, queue="slow", retry=SOON, share=3),
        _work("long", seconds=3.2 * lease, queue="slow", retry=SOON, share=0.5),
        _work("longish", seconds=0.8 * lease, queue="slow", retry=SOON, share=3),
        _work("urgent", queue="urgent", priority=9, retry=ONCE, share=6),
    ]


def _work(
    name: str,
    *,
    timing: Timing | None = None,
    misfire: Misfire = Misfire.FIRE_NOW,
    grace: timedelta = timedelta(seconds=60),
    overlap: Overlap = Overlap.ALLOW,
    function: str = "work",
    seconds: float = 0.0,
    retry: RetryPolicy = SOON,
    queue: str = "default",
    priority: int = 5,
    timeout: timedelta | None = None,
    delivery: Delivery = Delivery.AT_LEAST_ONCE,
    max_concurrent: int | None = None,
    fenced: bool = True,
    share: float = 0.0,
    **arguments: object,
) -> Work:
    if function == "work":
        arguments["fenced"] = fenced
    payload = {"function": function, "arguments": {"seconds": seconds, **arguments}}
    schedule = Schedule(
        timing or Manual(), misfire=misfire, misfire_grace=grace, overlap=overlap, catchup_limit=CATCHUP_MAX
    )
    definition = Definition(
        kind="python",
        payload=Document.of(payload, field="payload"),
        schedule=schedule,
        retry=retry,
        queue=queue,
        priority=priority,
        timeout=timeout,
        max_concurrent=max_concurrent,
        delivery=delivery,
    )
    return Work(Draft(name, definition), seconds, "fenced" if fenced else "sink", share)
