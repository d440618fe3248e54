"""Runs of a job over HTTP: ask for one or a thousand, and see what became of its due times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import UNSET

from gnomon.api.forms.execution_answers import (
    Asked,
    ExecutionPage,
    ReasonAnswer,
    asked_answer,
    execution_answers,
    reason_answer,
)
from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.forms.reading import Body, document_of
from gnomon.api.forms.words import Words, in_words, read_each
from gnomon.api.serving.call import Call
from gnomon.api.serving.encoded import InParts, in_parts
from gnomon.api.serving.policy import READS, WRITES, WRITES_MANY
from gnomon.client import Ask
from gnomon.client.executions.explaining import Explanation
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.schedules.occurrence import Occurrence
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.instants import parse_instant, parse_seconds
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, check_batch
from gnomon.errors import InvalidInput

BATCH_MAX = 1000
# What becomes of a nominal time.
FIRED, SKIPPED = OUTCOMES = ("fired", "skipped")
# How a wish calls what the client names when it refuses it.
WORDS = {"at": "run_at", "delay": "delay_seconds"}


class Wish(Form):
    """A run that somebody wants. What is not said is as the job says, and now."""

    input: Any = UNSET
    priority: int | None = None
    run_at: str | None = None
    delay_seconds: int | float | None = None
    unique_key: str | None = None


class Wishes(Form):
    executions: list[Wish]


class OneOfMany(Answer):
    execution_id: UUID
    is_new: bool


class ManyAsked(Answer):
    executions: list[OneOfMany]


class OccurrenceAnswer(Answer):
    """A nominal time and what became of it; or a run of skipped ones with one reason."""

    nominal_time: datetime
    nominal_until: datetime
    count: int
    outcome: str
    reason: str | None
    execution_id: str | None
    due: datetime | None


class OccurrencePage(Answer):
    occurrences: list[OccurrenceAnswer]
    next_cursor: str | None


class ExecutionReasons(Answer):
    execution_id: str
    reasons: list[ReasonAnswer]


class ExecutionExplanation(Answer):
    """`executions`: of a run of a workflow, those of its tasks that wait."""

    execution_id: str
    reasons: list[ReasonAnswer]
    executions: list[ExecutionReasons]


class JobExplanation(Answer):
    job_id: str
    reasons: list[ReasonAnswer]
    executions: list[ExecutionReasons]


@post("/v1/jobs/{job_id:str}/trigger", policy=WRITES, dto=Body[Wish], return_dto=None)
async def trigger_job(job_id: FromPath[str], request: Call, data: JSONBody[Wish | None] = None) -> Asked:
    """Run it now, or when you say, whatever its schedule says."""
    ask = _ask(data or Wish(), read_job_id(job_id))
    with in_words(lambda: WORDS):
        made = await request.verbs.executions.enqueue(ask, idempotency=await request.idempotency())
    request.metrics.enqueued(made.is_new)
    return asked_answer(made)


@post("/v1/jobs/{job_id:str}/executions/batch", policy=WRITES_MANY, dto=Body[Wishes], return_dto=None)
async def trigger_many(job_id: FromPath[str], data: JSONBody[Wishes], request: Call) -> ManyAsked:
    """Ask for up to 1,000 runs, all or none."""
    check_batch(len(data.executions), field="executions", size_max=BATCH_MAX)
    own_id = read_job_id(job_id)
    asks = read_each(data.executions, partial(_ask, job_id=own_id), field="executions")
    with in_words(lambda: _words_of_many(len(asks))):
        made = await request.verbs.executions.enqueue_many(asks, idempotency=await request.idempotency())
    request.metrics.enqueued(sum(one.is_new for one in made))
    return ManyAsked(executions=[OneOfMany(execution_id=one.id, is_new=one.is_new) for one in made])


@get("/v1/jobs/{job_id:str}/executions", policy=READS)
async def list_executions_of_job(
    job_id: FromPath[str],
    request: Call,
    status: FromQuery[ExecutionStatus | None] = None,
    since: FromQuery[str | None] = None,
    until: FromQuery[str | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> InParts[ExecutionPage]:
    """Newest first; of those made from `since` on and before `until`."""
    own_id = read_job_id(job_id)
    known = {own_id: await request.verbs.jobs.get(own_id)}
    which = WhichExecutions(own_id, status, *period(since, until))
    return await executions_page(request, which, limit=limit, cursor=cursor, known=known)


@get("/v1/jobs/{job_id:str}/occurrences", policy=READS)
async def list_occurrences(
    job_id: FromPath[str],
    request: Call,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: Annotated[str | None, QueryParameter(name="cursor")] = None,
) -> OccurrencePage:
    """Every nominal time that has come, newest first, and whether it fired or why not."""
    verbs, own_id = request.verbs, read_job_id(job_id)
    cursors = Cursors(verbs.tenant_id, "occurrences", own_id)
    found = await verbs.jobs.occurrences(own_id, limit=limit, before=cursors.read_instant(cursor))
    last = found[-1].nominal_time if len(found) == limit else None
    shown = [_occurrence(one) for one in found]
    return OccurrencePage(occurrences=shown, next_cursor=cursors.write_instant(last))


@get("/v1/jobs/{job_id:str}/explain", policy=READS)
async def explain_job(job_id: FromPath[str], request: Call) -> JobExplanation:
    """Every reason why it does not run now. None: one of its executions is next."""
    found = await request.verbs.explaining.job(read_job_id(job_id))
    reasons = [reason_answer(one) for one in found.reasons]
    return JobExplanation(job_id=job_id, reasons=reasons, executions=execution_reasons(found))


def execution_reasons(found: Explanation) -> list[ExecutionReasons]:
    return [
        ExecutionReasons(execution_id=str(id), reasons=[reason_answer(one) for one in reasons])
        for id, reasons in found.executions
    ]


class Period(NamedTuple):
    """When executions were made. None: any time."""

    since: datetime | None
    until: datetime | None


def period(since: str | None, until: str | None) -> Period:
    """Raises InvalidInput."""
    made = Period(
        None if since is None else parse_instant(since, field="since"),
        None if until is None else parse_instant(until, field="until"),
    )
    if made.since is not None and made.until is not None and made.until <= made.since:
        raise InvalidInput("until", "must lie after `since`.")
    return made


class WhichExecutions(NamedTuple):
    """What a list of executions was asked for. None: any."""

    job_id: JobId | None
    status: ExecutionStatus | None
    since: datetime | None
    until: datetime | None


async def executions_page(
    request: Call,
    which: WhichExecutions,
    *,
    limit: int,
    cursor: str | None,
    known: Mapping[JobId, Job] | None = None,
) -> InParts[ExecutionPage]:
    """`known`: the jobs of all of them, where the caller has read those already."""
    verbs = request.verbs
    cursors = Cursors(verbs.tenant_id, "executions", *which)
    page = await verbs.executions.list(
        job_id=which.job_id,
        status=which.status,
        since=which.since,
        until=which.until,
        limit=limit,
        after=cursors.read_id(cursor),
    )
    jobs = known or await verbs.jobs.many({one.job_id for one in page.items})
    shown = await execution_answers(page.items, jobs, verbs.executions)
    return await in_parts(ExecutionPage(executions=[], next_cursor=cursors.write_id(page.next)), shown)


def _ask(wish: Wish, job_id: JobId) -> Ask:
    return Ask(
        job_id,
        None if wish.input is UNSET else document_of(wish.input, field="input"),
        wish.priority,
        None if wish.run_at is None else parse_instant(wish.run_at, field="run_at"),
        _delay(wish.delay_seconds),
        wish.unique_key,
    )


def _words_of_many(size: int) -> Words:
    each = [f"executions[{number}]" for number in range(size)]
    return {f"{one}.{ours}": f"{one}.{theirs}" for one in each for ours, theirs in WORDS.items()}


def _delay(seconds: float | None) -> timedelta | None:
    return None if seconds is None else parse_seconds(seconds, field="delay_seconds")


def _occurrence(one: Occurrence) -> OccurrenceAnswer:
    return OccurrenceAnswer(
        nominal_time=one.nominal_time,
        nominal_until=one.nominal_until,
        count=one.count,
        outcome=FIRED if one.reason is None else SKIPPED,
        reason=one.reason,
        execution_id=None if one.execution_id is None else str(one.execution_id),
        due=one.due,
    )


ROUTES: list[Any] = [
    trigger_job,
    trigger_many,
    list_executions_of_job,
    list_occurrences,
    explain_job,
]
