"""Rows to values and back: the one place that knows how a value lies in its columns."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.execution import (
    Attempt,
    AttemptOutcome,
    Execution,
    ExecutionId,
    ExecutionStatus,
    Failure,
    Trigger,
    WaitsFor,
    WorkerId,
)
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.records import ExecutionFilter
from gnomon.core.jobs import retry
from gnomon.core.jobs.job import Definition, Delivery, Job, JobId, JobStatus, Revision
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.jobs.shown import ShownJob
from gnomon.core.time import schedule_document
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.document import Document
from gnomon.core.values.ids import ids_made
from gnomon.store.databases.database import Row

FIRST_ID = UUID(int=0)
LAST_ID = UUID(int=2**128 - 1)
INTEGER_MAX = 2**31 - 1  # What an integer column of PostgreSQL holds.
# A job that is due is read again and again, and most jobs say the same about retries, tags and the like.
# To read a schedule costs more than to fire it.
TEXTS_REMEMBERED = 4096


def bounds(wanted: ExecutionFilter, after: UUID | None) -> dict[str, UUID]:
    """Between which ids a page of executions lies: a list goes backwards, from the smaller end."""
    first, end = ids_made(wanted.since, wanted.until)
    return {"first": first, "after": min(after or LAST_ID, end)}


def names_text(names: Collection[str]) -> str:
    """A set of names as a sorted JSON list: equal sets are equal texts."""
    return json.dumps(sorted(names), ensure_ascii=False)


@lru_cache(TEXTS_REMEMBERED)
def names_of(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))


def ids_text(ids: Iterable[UUID]) -> str:
    return json.dumps(sorted(map(str, ids)))


@lru_cache(TEXTS_REMEMBERED)
def _ids_of(text: str) -> frozenset[JobId]:
    return frozenset(JobId(UUID(one)) for one in json.loads(text))


def document_text(document: Document | None) -> str | None:
    return None if document is None else document.text


def document_of(text: str | None) -> Document | None:
    return None if text is None else Document(text)


def definition_columns(definition: Definition, lane_id: int) -> dict[str, Any]:
    return {
        "lane_id": lane_id,
        "kind": definition.kind,
        "queue": definition.queue,
        "capabilities": names_text(definition.capabilities),
        "priority": definition.priority,
        "timeout_seconds": definition.timeout.total_seconds() if definition.timeout else None,
        "max_concurrent": definition.max_concurrent,
        "delivery": definition.delivery,
        "payload": definition.payload.text,
        "retry": json.dumps(retry.to_document(definition.retry), ensure_ascii=False),
        "schedule": json.dumps(schedule_document.to_document(definition.schedule), ensure_ascii=False),
    }


def definition_of(row: Row) -> Definition:
    return Definition(
        kind=row["kind"],
        payload=Document(row["payload"]),
        schedule=schedule_of(row["schedule"]),
        retry=_retry_of(row["retry"]),
        queue=row["queue"],
        capabilities=names_of(row["capabilities"]),
        priority=row["priority"],
        timeout=timedelta(seconds=row["timeout_seconds"]) if row["timeout_seconds"] else None,
        max_concurrent=row["max_concurrent"],
        delivery=Delivery(row["delivery"]),
    )


def revision_of(row: Row) -> Revision:
    return Revision(
        TenantId(row["tenant_id"]), JobId(row["job_id"]), row["revision"], definition_of(row), row["is_task"]
    )


def job_of(row: Row) -> Job:
    return Job(
        id=JobId(row["id"]),
        tenant_id=TenantId(row["tenant_id"]),
        name=row["name"],
        status=JobStatus(row["status"]),
        version=row["version"],
        revision=row["revision"],
        definition=definition_of(row),
        next_run_time=row["next_run_time"],
        last_run_time=row["last_run_time"],
        fires=row["fires"],
        anchor=row["anchor"],
        tags=names_of(row["tags"]),
        dependencies=_ids_of(row["dependencies"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def shown_job_of(row: Row) -> ShownJob:
    """From the columns of `jobs_shown`, in their order."""
    *facts, payload, capabilities, tags, dependencies, retry, schedule = row
    capabilities, tags, dependencies, schedule = map(_decode, (capabilities, tags, dependencies, schedule))
    return ShownJob._make(
        (*facts, Document(payload), capabilities, tags, dependencies, Document(retry), schedule)
    )


def is_possible(claim: Claim) -> bool:
    """A forged number that no column can hold is a lost claim, not an error of the driver."""
    return 0 < claim.number <= INTEGER_MAX


_decode = msgspec.json.Decoder().decode


def execution_of(row: Row, *, now: datetime) -> Execution:
    return Execution(
        id=ExecutionId(row["id"]),
        tenant_id=TenantId(row["tenant_id"]),
        job_id=JobId(row["job_id"]),
        revision=row["revision"],
        status=_status_of(row, now=now),
        trigger=Trigger(row["trigger"]),
        nominal_time=row["nominal_time"],
        due=row["due"],
        priority=row["priority"],
        claim=row["claim"],
        attempts=row["attempts"],
        worker=row["worker"],
        input=document_of(row["input"]),
        result=document_of(row["result"]),
        failure=failure_of(row),
        unique_key=row["unique_key"],
        cancel_requested=row["cancel_requested"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        waits_for=WaitsFor(row["waits_for"]) if row["waits_for"] else None,
    )


def _status_of(row: Row, *, now: datetime) -> ExecutionStatus:
    """Where an execution is tells what it is; only an ended one has its status written down."""
    if row["outcome"] is not None:
        return ExecutionStatus(row["outcome"])
    if row["is_leased"] or row["waits_for"] == WaitsFor.TASKS:
        return ExecutionStatus.RUNNING
    if row["waits_for"] is None and row["due"] <= now:
        return ExecutionStatus.QUEUED
    return ExecutionStatus.PENDING


def attempt_of(row: Row) -> Attempt:
    return Attempt(
        execution_id=ExecutionId(row["execution_id"]),
        claim=row["claim"],
        worker=WorkerId(row["worker"]),
        outcome=AttemptOutcome(row["outcome"]),
        failure=failure_of(row),
        started_at=row["started_at"],
        finished_at=row["finished_at"],
    )


def failure_of(row: Row) -> Failure | None:
    return Failure(row["failure_kind"], row["failure_message"]) if row["failure_kind"] is not None else None


@lru_cache(TEXTS_REMEMBERED)
def schedule_of(text: str) -> Schedule:
    return schedule_document.from_kept(json.loads(text))


@lru_cache(TEXTS_REMEMBERED)
def _retry_of(text: str) -> RetryPolicy:
    return retry.from_document(json.loads(text))
