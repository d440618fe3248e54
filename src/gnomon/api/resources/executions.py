"""Executions over HTTP: list, look at, stop, try again, read what they wrote, ask why they wait."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody
from litestar.response import Stream

from gnomon.api.forms.execution_answers import (
    AttemptAnswer,
    ExecutionAnswer,
    ExecutionPage,
    RedrivenAnswer,
    RunAgain,
    attempt_answer,
    execution_answers,
    raw,
    reason_answer,
    redriven_answer,
)
from gnomon.api.forms.ids import execution_id as read_execution_id
from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.forms.reading import Body
from gnomon.api.resources.job_runs import (
    ExecutionExplanation,
    WhichExecutions,
    execution_reasons,
    executions_page,
    period,
)
from gnomon.api.serving.call import Call
from gnomon.api.serving.encoded import InParts
from gnomon.api.serving.policy import READS, WRITES
from gnomon.api.serving.streams import event_of, paused
from gnomon.core.executions.execution import ExecutionId, ExecutionStatus, attempt_numbers
from gnomon.core.executions.records import LogLine
from gnomon.core.values.forms import Answer
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX
from gnomon.errors import InvalidInput

FOLLOW_PAUSE = timedelta(milliseconds=300)
_POSITION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})")


class Stopped(Answer):
    """RUNNING means: it was asked to stop, and stops within a heartbeat."""

    execution_id: str
    status: str


class Attempts(Answer):
    attempts: list[AttemptAnswer]


class Line(Answer):
    position: str
    claim: int
    number: int
    at: datetime
    level: str
    message: str
    context: Any


class Lines(Answer):
    """`next_after` asks for what comes later, now or when there is more."""

    lines: list[Line]
    next_after: str


@get("/v1/executions", policy=READS)
async def list_executions(
    request: Call,
    job_id: FromQuery[str | None] = None,
    status: FromQuery[ExecutionStatus | None] = None,
    since: FromQuery[str | None] = None,
    until: FromQuery[str | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> InParts[ExecutionPage]:
    """Newest first; of those made from `since` on and before `until`."""
    of_job = None if job_id is None else read_job_id(job_id)
    which = WhichExecutions(of_job, status, *period(since, until))
    return await executions_page(request, which, limit=limit, cursor=cursor)


@get("/v1/executions/{execution_id:str}", policy=READS)
async def get_execution(execution_id: FromPath[str], request: Call) -> ExecutionAnswer:
    """One execution, with its input and its result."""
    found = await request.verbs.executions.get(read_execution_id(execution_id))
    jobs = await request.verbs.jobs.many([found.job_id])
    [shown] = await execution_answers([found], jobs, request.verbs.executions)
    return shown


@get("/v1/executions/{execution_id:str}/attempts", policy=READS)
async def list_attempts(execution_id: FromPath[str], request: Call) -> Attempts:
    """The finished attempts, oldest first. One that was given back has the number of the next."""
    found = await request.verbs.executions.attempts(read_execution_id(execution_id))
    numbered = zip(attempt_numbers(found), found, strict=True)
    return Attempts(attempts=[attempt_answer(number, one) for number, one in numbered])


@post("/v1/executions/{execution_id:str}/cancel", policy=WRITES, status_code=200)
async def cancel_execution(execution_id: FromPath[str], request: Call) -> Stopped:
    """End it if it waits, ask it to stop if it runs. What has ended stays as it is. Safe to repeat."""
    status = await request.verbs.executions.cancel(read_execution_id(execution_id))
    return Stopped(execution_id=execution_id, status=status)


@post("/v1/executions/{execution_id:str}/retry", policy=WRITES, dto=Body[RunAgain], return_dto=None)
async def retry_execution(
    execution_id: FromPath[str], request: Call, data: JSONBody[RunAgain | None] = None
) -> RedrivenAnswer:
    """Run an ended execution again, as a new one with the same input.

    Of a task of a workflow, the run goes on from it, and the answer names the run.
    """
    revision = (data or RunAgain()).revision
    return redriven_answer(
        await request.verbs.executions.retry(read_execution_id(execution_id), revision=revision)
    )


@get("/v1/executions/{execution_id:str}/explain", policy=READS)
async def explain_execution(execution_id: FromPath[str], request: Call) -> ExecutionExplanation:
    """Every reason why it does not run now. None: a live worker would get it at its next claim."""
    found = await request.verbs.explaining.execution(read_execution_id(execution_id))
    reasons = [reason_answer(one) for one in found.reasons]
    return ExecutionExplanation(
        execution_id=execution_id, reasons=reasons, executions=execution_reasons(found)
    )


@get("/v1/executions/{execution_id:str}/logs", policy=READS)
async def read_logs(
    execution_id: FromPath[str],
    request: Call,
    after: FromQuery[str] = "0.0",
    limit: FromQuery[int] = PAGE_LIMIT_MAX,
) -> Lines:
    """Lines in order. To follow, ask again with `next_after`, or use the stream."""
    found = await request.verbs.executions.logs(
        read_execution_id(execution_id), limit=limit, after=_position(after)
    )
    return Lines(lines=[_line(one) for one in found], next_after=_last(found) or after)


@get("/v1/executions/{execution_id:str}/logs/stream", policy=READS, is_stream=True)
async def follow_logs(execution_id: FromPath[str], request: Call, after: FromQuery[str] = "0.0") -> Stream:
    """Server-sent events: `line` for each line, whose id is its position, and `end` when all is said."""
    own_id = read_execution_id(execution_id)
    await request.verbs.executions.get(own_id)
    return Stream(_follow(request, own_id, _position(after)), media_type="text/event-stream")


async def _follow(request: Call, own_id: ExecutionId, after: tuple[int, int]) -> AsyncIterator[bytes]:
    executions = request.verbs.executions
    while True:
        status = (await executions.get(own_id)).status  # Before the lines: none comes after the end.
        while lines := await executions.logs(own_id, limit=PAGE_LIMIT_MAX, after=after):
            for one in lines:
                yield event_of("line", _at(one), msgspec.json.encode(_line(one)))
            after = (lines[-1].claim.number, lines[-1].number)
        if status.is_final:
            yield event_of("end", None, msgspec.json.encode({"status": status}))
            return
        if await paused(request, FOLLOW_PAUSE):
            return


def _position(text: str) -> tuple[int, int]:
    found = _POSITION.fullmatch(text)
    if found is None:
        raise InvalidInput("after", f"{text[:40]!r} is not the position of a line, such as 1.20.")
    return int(found[1]), int(found[2])


def _line(one: LogLine) -> Line:
    return Line(
        position=_at(one),
        claim=one.claim.number,
        number=one.number,
        at=one.at,
        level=one.level,
        message=one.message,
        context=raw(one.context),
    )


def _at(one: LogLine) -> str:
    return f"{one.claim.number}.{one.number}"


def _last(lines: Sequence[LogLine]) -> str | None:
    return _at(lines[-1]) if lines else None


ROUTES: list[Any] = [
    list_executions,
    get_execution,
    list_attempts,
    cancel_execution,
    retry_execution,
    explain_execution,
    read_logs,
    follow_logs,
]
