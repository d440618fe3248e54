"""Backfills over HTTP: count, make, list, look at, pause, resume, cancel."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from litestar import Response, get, post
from litestar.params import FromPath, FromQuery, JSONBody

from gnomon.api.forms.execution_answers import raw
from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import backfill_id as read_backfill_id
from gnomon.api.forms.ids import dag_id as read_dag_id
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, WRITES
from gnomon.client.workflows.backfills import Range
from gnomon.core.runs.backfills import Backfill, BackfillTerms, BackfillTime, Existing
from gnomon.core.values.document import Document
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.instants import instant_text, parse_instant
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT

SHOWN_MAX = 10


class Wanted(Form):
    """A range of days or instants, both ends included, and what to do about times that have a run."""

    start: str
    end: str
    existing: Existing = Existing.SKIP


class NewBackfill(Wanted):
    """`priority` is that of all tasks of its runs. `config` goes over that of the workflow, key by key."""

    concurrency: int = 1
    priority: int | None = None
    config: dict[str, Any] | None = None


class PlanAnswer(Answer):
    """`left_out` counts the times that would not run, by reason; `first_times` are some that would."""

    start: datetime
    end: datetime
    count: int
    left_out: dict[str, int]
    first_times: list[datetime]


class BackfillAnswer(Answer):
    """The numbers count its times, each as its run first ended."""

    backfill_id: str
    dag_id: str
    status: str
    start: datetime
    end: datetime
    existing: str
    concurrency: int
    priority: int | None
    config: Any
    total: int
    waiting: int
    running: int
    completed: int
    failed: int
    cancelled: int
    created_at: datetime
    completed_at: datetime | None
    tenant_id: str


class BackfillPage(Answer):
    backfills: list[BackfillAnswer]
    next_cursor: str | None


class TimeAnswer(Answer):
    nominal_time: datetime
    status: str
    dag_run_id: str | None


class TimePage(Answer):
    runs: list[TimeAnswer]
    next_after: str | None


@post(
    "/v1/dags/{dag_id:str}/backfills/preview",
    policy=READS,
    status_code=200,
    dto=Body[Wanted],
    return_dto=None,
)
async def preview_backfill(dag_id: FromPath[str], data: JSONBody[Wanted], request: Call) -> PlanAnswer:
    """A dry run: how many runs there would be, and what would be left out. Nothing is kept."""
    span = Range(data.start, data.end)
    plan = await request.verbs.backfills.preview(read_dag_id(dag_id), span, data.existing)
    return PlanAnswer(
        start=plan.first,
        end=plan.last,
        count=plan.count,
        left_out=dict(plan.left_out),
        first_times=list(plan.times[:SHOWN_MAX]),
    )


@post("/v1/dags/{dag_id:str}/backfills", policy=WRITES, dto=Body[NewBackfill], return_dto=None)
async def create_backfill(
    dag_id: FromPath[str], data: JSONBody[NewBackfill], request: Call
) -> Response[BackfillAnswer]:
    """Run the past. Which times it runs is settled now; a run of each begins when there is room for it."""
    config = None if data.config is None else Document.of(data.config, field="config")
    terms = BackfillTerms(data.existing, data.concurrency, data.priority, config)
    backfill = await request.verbs.backfills.create(
        read_dag_id(dag_id), Range(data.start, data.end), terms, idempotency=await request.idempotency()
    )
    return Response(_answer(backfill), status_code=201, headers={"Location": f"/v1/backfills/{backfill.id}"})


@get("/v1/dags/{dag_id:str}/backfills", policy=READS)
async def list_backfills(
    dag_id: FromPath[str],
    request: Call,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> BackfillPage:
    """Newest first."""
    dag = await request.verbs.dags.get(read_dag_id(dag_id))
    cursors = Cursors(request.verbs.tenant_id, "backfills", dag.job.id)
    page = await request.verbs.backfills.list(dag.job.id, limit=limit, after=cursors.read_id(cursor))
    shown = [_answer(one) for one in page.items]
    return BackfillPage(backfills=shown, next_cursor=cursors.write_id(page.next))


@get("/v1/backfills/{backfill_id:str}", policy=READS)
async def get_backfill(backfill_id: FromPath[str], request: Call) -> BackfillAnswer:
    """One backfill, and how far it is."""
    return _answer(await request.verbs.backfills.get(read_backfill_id(backfill_id)))


@get("/v1/backfills/{backfill_id:str}/runs", policy=READS)
async def list_backfill_runs(
    backfill_id: FromPath[str],
    request: Call,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    after: FromQuery[str | None] = None,
) -> TimePage:
    """Its times, oldest first, each with its run once that has begun."""
    since = None if after is None else parse_instant(after, field="after")
    found = await request.verbs.backfills.times(read_backfill_id(backfill_id), limit=limit, after=since)
    following = instant_text(found[-1].nominal_time) if len(found) == limit else None
    return TimePage(runs=[_time(one) for one in found], next_after=following)


@post("/v1/backfills/{backfill_id:str}/pause", policy=WRITES, status_code=200)
async def pause_backfill(backfill_id: FromPath[str], request: Call) -> BackfillAnswer:
    """No more runs begin. Those under way go on."""
    return _answer(await request.verbs.backfills.pause(read_backfill_id(backfill_id)))


@post("/v1/backfills/{backfill_id:str}/resume", policy=WRITES, status_code=200)
async def resume_backfill(backfill_id: FromPath[str], request: Call) -> BackfillAnswer:
    """Go on with the next times."""
    return _answer(await request.verbs.backfills.resume(read_backfill_id(backfill_id)))


@post("/v1/backfills/{backfill_id:str}/cancel", policy=WRITES, status_code=200)
async def cancel_backfill(backfill_id: FromPath[str], request: Call) -> BackfillAnswer:
    """What has not begun never will, and runs under way are cancelled. Safe to repeat."""
    return _answer(await request.verbs.backfills.cancel(read_backfill_id(backfill_id)))


def _answer(one: Backfill) -> BackfillAnswer:
    return BackfillAnswer(
        backfill_id=str(one.id),
        dag_id=str(one.dag_id),
        status=one.status,
        start=one.first,
        end=one.last,
        existing=one.terms.existing,
        concurrency=one.terms.concurrency,
        priority=one.terms.priority,
        config=raw(one.terms.config),
        total=one.total,
        waiting=one.waiting,
        running=one.running,
        completed=one.completed,
        failed=one.failed,
        cancelled=one.cancelled,
        created_at=one.created_at,
        completed_at=one.finished_at,
        tenant_id=str(one.tenant_id),
    )


def _time(one: BackfillTime) -> TimeAnswer:
    run_id = None if one.run_id is None else str(one.run_id)
    return TimeAnswer(nominal_time=one.nominal_time, status=one.state, dag_run_id=run_id)


ROUTES: list[Any] = [
    preview_backfill,
    create_backfill,
    list_backfills,
    get_backfill,
    list_backfill_runs,
    pause_backfill,
    resume_backfill,
    cancel_backfill,
]
