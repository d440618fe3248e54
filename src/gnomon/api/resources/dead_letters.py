"""Dead letters over HTTP: list, look at, run again, forget."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from litestar import delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from gnomon.api.forms.execution_answers import RedrivenAnswer, RunAgain, Trouble, redriven_answer, trouble
from gnomon.api.forms.ids import Cursors, dead_id
from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, WRITES
from gnomon.client.executions.dead_letters import REDRIVE_MAX
from gnomon.client.workflows.places import NamedPlace
from gnomon.core.executions.records import AtRevision, DeadLetter
from gnomon.core.jobs.job import Job
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import InvalidInput


class DeadLetterAnswer(Answer):
    """`redriven_as`: what it became. Of a task of a workflow that is the run, once it was repaired."""

    execution_id: str
    job_id: str
    job_name: str | None
    task: str | None
    item: int | None
    dag_run_id: str | None
    reason: str
    error: Trouble | None
    attempts: int
    died_at: datetime
    redriven_as: str | None
    redriven_at: datetime | None


class DeadLetterPage(Answer):
    dead_letters: list[DeadLetterAnswer]
    next_cursor: str | None


class Which(Form):
    """Some dead letters: by id, or those of a job, or, if that is said, all of them."""

    execution_ids: list[str] | None = None
    job_id: str | None = None
    all: bool = False
    limit: int = REDRIVE_MAX

    def check(self) -> None:
        """Exactly one of the three, so that an empty filter does not mean everything by mistake."""
        if (self.execution_ids is not None) + (self.job_id is not None) + self.all != 1:
            raise InvalidInput("execution_ids", "say one of `execution_ids`, `job_id` and `all`.")


class WhichToRedrive(Which):
    """Which, and at which revision: that of its job that is the newest, or the one that it had."""

    revision: AtRevision = AtRevision.NEWEST


class Refused(Answer):
    execution_id: str
    code: str
    message: str


class Redriven(Answer):
    """`refused`: of those of a filter, what could not be redriven, and why. They are still dead letters."""

    executions: list[RedrivenAnswer]
    refused: list[Refused]


class Purged(Answer):
    execution_ids: list[str]


@get("/v1/dlq", policy=READS)
async def list_dead_letters(
    request: Call,
    job_id: FromQuery[str | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> DeadLetterPage:
    """Newest first."""
    verbs = request.verbs
    of_job = None if job_id is None else read_job_id(job_id)
    cursors = Cursors(verbs.tenant_id, "dlq", of_job)
    page = await verbs.dead_letters.list(job_id=of_job, limit=limit, after=cursors.read_id(cursor))
    jobs = await verbs.jobs.many({one.job_id for one in page.items})
    places = await verbs.dead_letters.places(page.items)
    shown = [_letter(one, jobs.get(one.job_id), places.get(one.execution_id)) for one in page.items]
    return DeadLetterPage(dead_letters=shown, next_cursor=cursors.write_id(page.next))


@get("/v1/dlq/{execution_id:str}", policy=READS)
async def get_dead_letter(execution_id: FromPath[str], request: Call) -> DeadLetterAnswer:
    """One dead letter, by the id of its execution."""
    found = await request.verbs.dead_letters.get(dead_id(execution_id))
    jobs = await request.verbs.jobs.many([found.job_id])
    places = await request.verbs.dead_letters.places([found])
    return _letter(found, jobs.get(found.job_id), places.get(found.execution_id))


@post("/v1/dlq/{execution_id:str}/redrive", policy=WRITES, dto=Body[RunAgain], return_dto=None)
async def redrive_one(
    execution_id: FromPath[str], request: Call, data: JSONBody[RunAgain | None] = None
) -> RedrivenAnswer:
    """Run it again, as a new execution with the same input. Repeated, that is one.

    Of a task of a workflow, the run goes on from it, and the answer names the run.
    """
    revision = (data or RunAgain()).revision
    [made] = await request.verbs.dead_letters.redrive([dead_id(execution_id)], revision=revision)
    return redriven_answer(made)


@post("/v1/dlq/redrive", policy=WRITES, dto=Body[WhichToRedrive], return_dto=None)
async def redrive_many(data: JSONBody[WhichToRedrive], request: Call) -> Redriven:
    """Run again those of a list (all or none), or of a job, or all that were not redriven yet."""
    data.check()
    letters = request.verbs.dead_letters
    if data.execution_ids is not None:
        dead = [dead_id(one) for one in data.execution_ids]
        made = [redriven_answer(one) for one in await letters.redrive(dead, revision=data.revision)]
        return Redriven(executions=made, refused=[])
    of_job = None if data.job_id is None else read_job_id(data.job_id)
    swept = await letters.redrive_job(of_job, limit=data.limit, revision=data.revision)
    return Redriven(
        executions=[redriven_answer(one) for one in swept.made],
        refused=[
            Refused(execution_id=str(one), code=error.code, message=str(error))
            for one, error in swept.refused
        ],
    )


@delete("/v1/dlq/{execution_id:str}", policy=WRITES, status_code=200)
async def purge_one(execution_id: FromPath[str], request: Call) -> Purged:
    """Forget the dead letter, not its execution."""
    gone = await request.verbs.dead_letters.purge([dead_id(execution_id)])
    return Purged(execution_ids=[str(one) for one in gone])


@post("/v1/dlq/purge", policy=WRITES, dto=Body[Which], return_dto=None, status_code=200)
async def purge_many(data: JSONBody[Which], request: Call) -> Purged:
    """Forget those of a list, or of a job, or all."""
    data.check()
    letters = request.verbs.dead_letters
    if data.execution_ids is not None:
        gone = await letters.purge([dead_id(one) for one in data.execution_ids])
    else:
        of_job = None if data.job_id is None else read_job_id(data.job_id)
        gone = await letters.purge_job(of_job, limit=data.limit)
    return Purged(execution_ids=[str(one) for one in gone])


def _letter(one: DeadLetter, job: Job | None, place: NamedPlace | None) -> DeadLetterAnswer:
    return DeadLetterAnswer(
        execution_id=str(one.execution_id),
        job_id=str(one.job_id),
        job_name=None if job is None else job.name,
        task=None if place is None else place.task,
        item=None if place is None else place.item,
        dag_run_id=None if place is None else str(place.run_id),
        reason=one.reason,
        error=trouble(one.failure),
        attempts=one.attempts,
        died_at=one.died_at,
        redriven_as=None if one.redriven_as is None else str(one.redriven_as),
        redriven_at=one.redriven_at,
    )


ROUTES: list[Any] = [
    list_dead_letters,
    get_dead_letter,
    redrive_one,
    redrive_many,
    purge_one,
    purge_many,
]
