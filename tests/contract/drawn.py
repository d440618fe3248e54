"""What the state machine draws: jobs, changes, asks, requests and outcomes of a small world, so they meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from gnomon.core.access.keys import KeyId
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import Failure, NewExecution, WorkerId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.executions.lifecycle import (
    JOB_TRANSITIONS,
    Cancelled,
    Failed,
    JobAction,
    JobChange,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
    change_of,
)
from gnomon.core.jobs.job import Definition, Delivery, Job, JobId, NewJob
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.operations.workers import Registration
from gnomon.core.time.nominal import first_run, next_run, seed_of
from gnomon.core.time.schedule import Interval, Misfire, Overlap, Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.idempotency import Idempotency
from tests.contract.given import ADA, BOB, NOW

NewId = Callable[[], Any]

NOBODY = JobId(UUID(int=7))
NAMES = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
WORDS = st.sampled_from(["x", "y"])
KINDS, QUEUES, CAPABILITIES = ["echo", "http"], ["default", "slow"], ["gpu", "eu"]
priorities = st.integers(0, 9)


def idempotency(verb: str) -> st.SearchStrategy[Idempotency | None]:
    """Keys that verbs share, and fingerprints that they do not: each stands for a whole request."""
    fingerprints = st.sampled_from([f"{verb} f", f"{verb} g"])
    return st.none() | st.none() | st.builds(Idempotency, st.sampled_from("jklm"), fingerprints)


def some(words: Sequence[str], *, min_size: int = 0) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(words), min_size=min_size)


schedules = st.just(Schedule()) | st.builds(
    Schedule,
    st.builds(Interval, st.sampled_from([timedelta(seconds=7), timedelta(minutes=10)]), st.just(NOW)),
    misfire=st.sampled_from(Misfire),
    misfire_grace=st.just(timedelta(seconds=5)),
    catchup_limit=st.integers(1, 3),
    overlap=st.sampled_from(Overlap),
    max_runs=st.none() | st.integers(1, 4),
)

definitions = st.builds(
    Definition,
    st.sampled_from(KINDS),
    payload=st.integers(0, 9).map(lambda n: Document.of({"n": n}, field="payload")),
    schedule=schedules,
    retry=st.builds(RetryPolicy, max_attempts=st.integers(1, 4), backoff_base=st.just(timedelta(seconds=30))),
    queue=st.sampled_from(QUEUES),
    capabilities=st.just(frozenset()) | some(CAPABILITIES),
    priority=priorities,
    max_concurrent=st.none() | st.integers(1, 3),
    delivery=st.sampled_from(Delivery),
)

outcomes: st.SearchStrategy[Outcome] = st.sampled_from(
    [
        Succeeded(),
        Succeeded(Document.of({"rows": 7}, field="result")),
        Failed(Failure("oops", "It did not work.")),
        Failed(Failure("oops", "It did not work."), retry_after=timedelta(minutes=2)),
        Failed(Failure("worse", "It cannot work."), permanent=True),
        TimedOut(),
        Cancelled(),
        Snoozed(timedelta(seconds=10)),
        Snoozed(timedelta(seconds=10), has_started=False, failure=Failure("not_here", "No such function.")),
        Released(),
    ]
)


# Jobs -------------------------------------------------------------------------------------------------


def first_jobs(new_id: NewId, tenant: TenantId) -> list[NewJob]:
    """A world that lives from the start: a plain job, one that fires often, one for few workers; one with few
    slots, one that fires after the plain one has succeeded, one that replaces its own runs."""
    often = Schedule(Interval(timedelta(seconds=7), NOW), misfire=Misfire.FIRE_ALL, catchup_limit=2)
    definitions = [
        Definition("echo", retry=RetryPolicy(max_attempts=2, backoff_base=timedelta(seconds=30))),
        Definition("http", schedule=often, priority=7),
        Definition("echo", queue="slow", capabilities=frozenset({"gpu"}), delivery=Delivery.AT_MOST_ONCE),
        Definition(
            "echo", max_concurrent=2, priority=6, retry=RetryPolicy(backoff_base=timedelta(seconds=7))
        ),
        Definition("http", schedule=often),
        Definition("http", schedule=replace(often, overlap=Overlap.REPLACE)),
    ]
    ids = [new_id() for _ in definitions]
    return [
        NewJob(
            id=job_id,
            tenant_id=tenant,
            name=name,
            definition=definition,
            next_run_time=first_run(definition.schedule, now=NOW, seed=seed_of(tenant, name)),
            dependencies=frozenset({ids[0]} if job_id == ids[4] else ()),
        )
        for job_id, name, definition in zip(ids, NAMES, definitions, strict=False)
    ]


@st.composite
def new_jobs(
    draw: st.DrawFn, new_id: NewId, tenant: TenantId, known: Sequence[Job], *, now: datetime
) -> list[NewJob]:
    jobs: list[NewJob] = []
    for _ in range(draw(st.integers(1, 3))):
        name, definition = draw(st.sampled_from(NAMES)), draw(definitions)
        needed = [job.id for job in known] + [job.id for job in jobs]
        jobs.append(
            NewJob(
                id=new_id(),
                tenant_id=tenant,
                name=name,
                definition=definition,
                next_run_time=first_run(definition.schedule, now=now, seed=seed_of(tenant, name)),
                tags=draw(st.frozensets(WORDS)),
                dependencies=draw(dependencies(needed)),
            )
        )
    return jobs


def dependencies(known: Sequence[JobId]) -> st.SearchStrategy[frozenset[JobId]]:
    """Mostly none; now and then some that exist; rarely one that does not."""
    nothing = st.just(frozenset[JobId]())
    if not known:
        return nothing
    some_of = st.frozensets(st.sampled_from(list(known)), max_size=2)
    return st.one_of(nothing, nothing, some_of, some_of, st.sampled_from([frozenset({NOBODY}), frozenset()]))


@st.composite
def changes(draw: st.DrawFn, job: Job, known: Sequence[Job], *, now: datetime) -> list[JobChange]:
    actions = [action for action in JobAction if (job.status, action) in JOB_TRANSITIONS]
    if not actions:
        return []
    action = draw(st.sampled_from(actions))
    if action is JobAction.UPDATE:
        change = draw(_update(job, known, now=now))
    else:
        change = change_of(job, action, next_run_time=_next(job, job.definition, now))
    if draw(st.integers(0, 9)) == 0:
        change = replace(change, expected_version=job.version - 1)
    others = [
        other for other in known if other.id != job.id and (other.status, JobAction.PAUSE) in JOB_TRANSITIONS
    ]
    if action is not JobAction.UPDATE and others and draw(st.booleans()):
        other = draw(st.sampled_from(others))
        return [change, change_of(other, JobAction.PAUSE, next_run_time=other.next_run_time)]
    return [change]


@st.composite
def _update(draw: st.DrawFn, job: Job, known: Sequence[Job], *, now: datetime) -> JobChange:
    definition = draw(st.none() | definitions)
    change = change_of(job, JobAction.UPDATE, next_run_time=_next(job, definition or job.definition, now))
    return replace(
        change,
        name=draw(st.sampled_from([job.name, job.name, *NAMES])),
        tags=draw(st.just(job.tags) | st.frozensets(WORDS)),
        dependencies=draw(st.just(job.dependencies) | dependencies([other.id for other in known])),
        definition=definition,
    )


def _next(job: Job, definition: Definition, now: datetime) -> datetime | None:
    """Strictly later than now, so that no nominal time comes twice."""
    return next_run(
        definition.schedule,
        after=now,
        seed=seed_of(job.tenant_id, job.name),
        anchor=job.anchor,
        fires=job.fires,
    )


# Executions -------------------------------------------------------------------------------------------


@st.composite
def asks(
    draw: st.DrawFn, new_id: NewId, job: Job, known: Sequence[Job], *, now: datetime
) -> list[NewExecution]:
    """Some of one job, which may have ended; or of several that have not."""
    jobs = [job] * draw(st.integers(1, 3)) if draw(st.booleans()) or not known else known[:3]
    return [
        NewExecution(
            new_id(),
            one.id,
            input=draw(st.none() | st.just(Document.of([1], field="input"))),
            due=draw(st.none() | st.integers(-60, 60).map(lambda n: now + timedelta(seconds=n))),
            priority=draw(st.none() | priorities),
            unique_key=draw(st.none() | WORDS),
        )
        for one in jobs
    ]


@st.composite
def requests(draw: st.DrawFn, new_id: NewId) -> ClaimRequest:
    everything = draw(st.integers(0, 3)) > 0
    how = draw(st.sampled_from(["plain", "plain", "plain", "counted", "alone"]))
    return ClaimRequest(
        id=new_id(),
        worker=draw(st.sampled_from([ADA, BOB])),
        kinds=frozenset(KINDS) if everything else draw(some(KINDS)),
        queues=frozenset(QUEUES) if everything else draw(some(QUEUES)),
        capabilities=frozenset(CAPABILITIES) if everything else draw(some(CAPABILITIES)),
        limit=draw(st.integers(1, 4)),
        is_counted=how == "counted",
        is_alone=how == "alone",
    )


def greedy_request(new_id: NewId) -> ClaimRequest:
    """Somebody who can do everything and takes all there is."""
    return ClaimRequest(
        new_id(), BOB, frozenset(KINDS), frozenset(QUEUES), frozenset(CAPABILITIES), limit=100
    )


def registration_of(worker: WorkerId, boot: int, key: int | None) -> Registration:
    key_id = None if key is None else KeyId(UUID(int=key))
    return Registration(
        worker, UUID(int=boot), f"host {boot}", slots=boot, kinds=frozenset(KINDS), key_id=key_id
    )
