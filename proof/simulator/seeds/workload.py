"""What is asked of a simulated system: jobs of every kind, and people who change their minds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from msgspec.structs import replace

from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.scenario import Act, JobSpec, Verb

JOBS = (8, 20)
ACTS_PER_HOUR = (60.0, 400.0)
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe")
# With the seconds between two fires.
CRONS = {
    "* * * * *": 60.0,
    "*/2 * * * *": 120.0,
    "*/5 * * * *": 300.0,
    "*/15 * * * *": 900.0,
    "H/10 * * * *": 600.0,
    "30 1-3 * * *": 3600.0,
    "*/30 2 * * *": 3600.0,
}
RARELY = 600.0
LOAD_MAX = 0.5
POISON = 0.3  # Of so many worlds.
QUEUES = ("default", "slow")  # They share the slots of workers that serve both.

_ENQUEUES = (Verb.ENQUEUE, Verb.ENQUEUE_UNIQUE, Verb.ENQUEUE_LATER)
_VERBS = (
    *_ENQUEUES * 4, Verb.CANCEL_RUN, Verb.CANCEL_RUN, Verb.PAUSE, Verb.RESUME, Verb.RESUME, Verb.UPDATE,
    Verb.REDRIVE,
)  # fmt: skip


def draw_jobs(chance: Random, *, seconds: float, slots: Mapping[str, int]) -> tuple[JobSpec, ...]:
    """Of all kinds, and of each queue no more than what its slots can do with ease."""
    jobs: list[JobSpec] = []
    for number in range(chance.randint(*JOBS)):
        job = _bearable(_draw_job(chance, f"job{number}", jobs, seconds=seconds))
        load = sum(load_of(one) for one in (*jobs, job) if one.queue == job.queue)
        if load <= LOAD_MAX * slots[job.queue] / len(QUEUES):
            jobs.append(job)
    return tuple(jobs)


def draw_poison(chance: Random, *, until: float) -> tuple[JobSpec, ...]:
    """In some worlds, a job whose every attempt ends its worker, among others that do no harm."""
    if chance.random() >= POISON:
        return ()
    behaviour = Behaviour(shortest=1.0, longest=5.0, crashes=1.0)
    at = round(chance.uniform(0.1, 0.6) * until, 3)
    limit = chance.choice((2, 3, 3, 4))
    return (JobSpec(name="poison", at=at, max_attempts=9, crash_limit=limit, behaviour=behaviour),)


def load_of(job: JobSpec) -> float:
    """How many slots it keeps busy on average, or would if it had them."""
    every = job.every or (CRONS.get(job.cron, 60.0) if job.cron else RARELY)
    behaviour = job.behaviour
    lasts = (behaviour.shortest + behaviour.longest) / 2 * (1 - behaviour.long)
    lasts += behaviour.long_lasts * behaviour.long
    return lasts * (1 + behaviour.fails + behaviour.snoozes) / every


def _bearable(job: JobSpec) -> JobSpec:
    """A job that runs one at a time must be done before the next one is due, mostly."""
    is_serial = job.overlap == "queue" or job.max_concurrent == 1
    wait = job.backoff_base * job.max_attempts * job.behaviour.fails + 15 * job.behaviour.snoozes
    every = job.every or (CRONS.get(job.cron, 60.0) if job.cron else RARELY)
    if is_serial and load_of(job) + wait / every > LOAD_MAX:
        return replace(job, overlap="skip", max_concurrent=None)
    return job


def _draw_job(chance: Random, name: str, others: Sequence[JobSpec], *, seconds: float) -> JobSpec:
    behaviour = _draw_behaviour(chance)
    cron, every, at, delay = _draw_timing(chance, seconds=seconds)
    overlap = chance.choice(("allow", "skip", "queue", "replace"))
    before = [one.name for one in others if one.cron or one.every]
    return JobSpec(
        name=name,
        cron=cron,
        every=every,
        at=at,
        delay=delay,
        timezone=chance.choice(ZONES) if cron else "UTC",
        gap=chance.choice(("shift", "skip")),
        fold=chance.choice(("first", "both")),
        jitter=chance.choice((0.0, 0.0, 5.0)),
        max_runs=chance.choice((None, None, None, 10)),
        closed=(0,) if chance.random() < 0.05 else (),
        misfire=chance.choice(("FIRE_NOW", "FIRE_ALL", "IGNORE", "RESCHEDULE")),
        grace=chance.choice((5.0, 60.0, 60.0)),
        catchup_limit=chance.choice((2, 100)),
        catchup_window=chance.choice((None, None, 120.0)),
        overlap=overlap,
        max_concurrent=chance.choice((None, None, 1, 3)),
        after=tuple(chance.sample(before, 1)) if before and chance.random() < 0.15 else (),
        max_attempts=chance.choice((1, 3, 5)),
        backoff_base=chance.choice((1.0, 5.0, 20.0)),
        timeout=chance.choice((None, None, None, 8.0, 60.0)),
        delivery=chance.choice(("at_least_once", "at_least_once", "at_least_once", "at_most_once")),
        priority=chance.choice((5, 5, 0, 9)),
        queue=chance.choice(("default", "default", "default", "slow")),
        behaviour=behaviour,
    )


def _draw_timing(
    chance: Random, *, seconds: float
) -> tuple[str | None, float | None, float | None, float | None]:
    """A cron expression, an interval, an instant or a delay: one of them, or none."""
    match chance.choice(("cron", "cron", "cron", "every", "every", "at", "delay", "manual", "manual")):
        case "cron":
            return chance.choice(list(CRONS)), None, None, None
        case "every":
            return None, float(chance.choice((7, 20, 45, 60, 300))), None, None
        case "at":
            return None, None, round(chance.uniform(-600, seconds), 3), None
        case "delay":
            return None, None, None, round(chance.uniform(0, seconds), 3)
        case _:
            return None, None, None, None


def _draw_behaviour(chance: Random) -> Behaviour:
    return Behaviour(
        longest=chance.choice((0.2, 5.0, 20.0, 40.0)),
        long=chance.choice((0.0, 0.0, 0.3, 1.0)),
        long_lasts=chance.choice((40.0, 75.0, 100.0)),
        fails=chance.choice((0.0, 0.0, 0.1, 0.5)),
        fails_for_good=chance.choice((0.0, 0.0, 0.05)),
        crashes=chance.choice((0.0, 0.0, 0.0, 0.0, 0.02)),
        snoozes=chance.choice((0.0, 0.0, 0.1)),
        stubborn=chance.choice((0.0, 0.0, 0.5)),
        checkpoints=chance.choice((0, 0, 3)),
        lines=chance.choice((0, 0, 1)),
    )


def draw_acts(
    chance: Random, jobs: Sequence[JobSpec], clients: Sequence[str], *, until: float
) -> tuple[Act, ...]:
    per_hour = chance.uniform(*ACTS_PER_HOUR)
    acts: list[Act] = []
    at = 5.0
    while (at := at + chance.expovariate(per_hour / 3600)) < until:
        verb = Verb.CANCEL_JOB if chance.random() < 0.002 else chance.choice(_VERBS)
        job = chance.choice(jobs)
        acts.append(
            Act(number=len(acts), at=round(at, 3), client=chance.choice(clients), verb=verb, job=job.name)
        )
    return tuple(acts)
