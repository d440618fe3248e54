"""Workflows over HTTP: write down, list, look at, change, pause, resume, run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from litestar import Response, delete, get, post, put
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET, UnsetType

from gnomon.api.forms.dag_answers import DagAnswer, DagDetails, DagPage, dag_answer, dag_details
from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import dag_id as read_dag_id
from gnomon.api.forms.reading import Body, Seen
from gnomon.api.forms.words import Words, in_words, words_of_tasks
from gnomon.api.resources.dag_runs import RunAnswer, RunPage, run_answer
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, WRITES, WRITES_MANY
from gnomon.core.jobs.job import JobStatus
from gnomon.core.runs.state import RunStatus
from gnomon.core.time.schedule import CronTiming
from gnomon.core.values.document import check_name
from gnomon.core.values.forms import Form
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.core.workflows.dag import Dag
from gnomon.errors import DagNotFound


class NewDag(Form):
    """A workflow. What a task may say is in the reference of workflows."""

    name: str
    tasks: list[dict[str, Any]]
    cron_expression: str | UnsetType | None = UNSET
    timezone: str | UnsetType | None = UNSET
    schedule: dict[str, Any] | UnsetType | None = UNSET
    failure_strategy: str | UnsetType = UNSET
    allow_partial_completion: bool | UnsetType = UNSET
    config: dict[str, Any] | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET
    allow_unknown_kind: bool | UnsetType = UNSET


class ChangedDag(NewDag):
    version: int | None = None


class Trigger(Form):
    """`config` goes over the configuration of the workflow, key by key."""

    config: dict[str, Any] | None = None


@post("/v1/dags", policy=WRITES_MANY, dto=Body[NewDag], return_dto=None)
async def create_dag(data: JSONBody[NewDag], request: Call) -> Response[DagDetails]:
    """Keep a workflow. What could never run is refused, with the task and the reason."""
    with in_words(lambda: _words(data)):
        dag = await request.verbs.dags.create(_document(data), idempotency=await request.idempotency())
    return await _tagged(dag, request, status_code=201, headers={"Location": f"/v1/dags/{dag.job.id}"})


@get("/v1/dags", policy=READS)
async def list_dags(
    request: Call,
    status: FromQuery[JobStatus | None] = None,
    name: FromQuery[str | None] = None,
    name_prefix: FromQuery[str | None] = None,
    name_contains: FromQuery[str | None] = None,
    tag: FromQuery[str | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> DagPage:
    """Newest first; deleted ones only if you ask for that status. With `name`, that one."""
    parts = {"tag": tag, "name_prefix": name_prefix, "name_contains": name_contains}
    for field, text in (parts | {"name": name}).items():
        if text is not None:
            check_name(text, field=field)
    if name is not None:
        with suppress(DagNotFound):
            found = await request.verbs.dags.named(name)
            return DagPage(dags=await _answers([found], request), next_cursor=None)
        return DagPage(dags=[], next_cursor=None)
    cursors = Cursors(request.verbs.tenant_id, "dags", status, *parts.values())
    page = await request.verbs.dags.list(status=status, **parts, limit=limit, after=cursors.read_id(cursor))
    return DagPage(dags=await _answers(page.items, request), next_cursor=cursors.write_id(page.next))


@get("/v1/dags/{dag_id:str}", policy=READS)
async def get_dag(dag_id: FromPath[str], request: Call) -> Response[DagDetails]:
    """One workflow, with its definition."""
    return await _tagged(await request.verbs.dags.get(read_dag_id(dag_id)), request)


@put("/v1/dags/{dag_id:str}", policy=WRITES_MANY, dto=Body[ChangedDag], return_dto=None)
async def update_dag(
    dag_id: FromPath[str], data: JSONBody[ChangedDag], request: Call
) -> Response[DagDetails]:
    """A new revision, from a whole definition. Runs that exist stay on theirs."""
    with in_words(lambda: _words(data)):
        dag = await request.verbs.dags.update(
            read_dag_id(dag_id),
            _document(data),
            version=request.version(data.version),
            idempotency=await request.idempotency(),
        )
    return await _tagged(dag, request)


@delete("/v1/dags/{dag_id:str}", policy=WRITES, status_code=200)
async def delete_dag(dag_id: FromPath[str], request: Call) -> Response[DagDetails]:
    """Soft: its name is free again, its history stays until retention. Its runs are stopped."""
    dag = await request.verbs.dags.delete(read_dag_id(dag_id), version=request.version(None))
    return await _tagged(dag, request)


@post("/v1/dags/{dag_id:str}/pause", policy=WRITES, status_code=200, dto=Body[Seen], return_dto=None)
async def pause_dag(
    dag_id: FromPath[str], request: Call, data: JSONBody[Seen | None] = None
) -> Response[DagDetails]:
    """Skip its due times from now on. Its runs go on."""
    dag = await request.verbs.dags.pause(
        read_dag_id(dag_id), version=request.version((data or Seen()).version)
    )
    return await _tagged(dag, request)


@post("/v1/dags/{dag_id:str}/resume", policy=WRITES, status_code=200, dto=Body[Seen], return_dto=None)
async def resume_dag(
    dag_id: FromPath[str], request: Call, data: JSONBody[Seen | None] = None
) -> Response[DagDetails]:
    """Fire again, from the next time on."""
    dag = await request.verbs.dags.resume(
        read_dag_id(dag_id), version=request.version((data or Seen()).version)
    )
    return await _tagged(dag, request)


@post("/v1/dags/{dag_id:str}/trigger", policy=WRITES, dto=Body[Trigger], return_dto=None)
async def trigger_dag(
    dag_id: FromPath[str], request: Call, data: JSONBody[Trigger | None] = None
) -> RunAnswer:
    """Run it now, whatever its schedule says."""
    config = None if data is None else data.config
    run = await request.verbs.dags.trigger(
        read_dag_id(dag_id), config=config, idempotency=await request.idempotency()
    )
    return run_answer(run)


@get("/v1/dags/{dag_id:str}/runs", policy=READS)
async def list_dag_runs(
    dag_id: FromPath[str],
    request: Call,
    status: FromQuery[RunStatus | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> RunPage:
    """Newest first."""
    dag = await request.verbs.dags.get(read_dag_id(dag_id))
    cursors = Cursors(request.verbs.tenant_id, "dag-runs", dag.job.id, status)
    page = await request.verbs.runs.list(
        dag.job.id, status=status, limit=limit, after=cursors.read_id(cursor)
    )
    return RunPage(runs=[run_answer(one) for one in page.items], next_cursor=cursors.write_id(page.next))


def _words(data: NewDag) -> Words:
    """How this form calls what the core names when it refuses it."""
    word = "cron" if data.schedule and "cron" in data.schedule else "expression"
    return words_of_tasks(data.tasks) | {
        "cron": f"schedule.{word}" if data.schedule else "cron_expression",
        "calendar": "schedule.calendar",
    }


def _document(data: NewDag) -> dict[str, Any]:
    """What was said, and no more: the definition is kept as it was written."""
    said = {name: getattr(data, name) for name in NewDag.__struct_fields__}
    return {name: value for name, value in said.items() if value is not UNSET and value is not None}


async def _tagged(
    dag: Dag, request: Call, *, status_code: int = 200, headers: dict[str, str] | None = None
) -> Response[DagDetails]:
    recent = await request.verbs.jobs.recent([dag.job])
    definition = (await request.verbs.dags.revision(dag)).definition
    schedule = dag.job.definition.schedule
    zone = schedule.timing.timezone if isinstance(schedule.timing, CronTiming) else None
    skip = await request.verbs.calendars.skip_of(schedule.calendar, dag.job.next_run_time, timezone=zone)
    answer = await dag_details(dag, definition, recent[dag.job.id], skip, now=request.now)
    tag = {"ETag": f'"{dag.job.version}"'}
    return Response(answer, status_code=status_code, headers=tag | (headers or {}))


async def _answers(dags: Sequence[Dag], request: Call) -> list[DagAnswer]:
    recent = await request.verbs.jobs.recent([dag.job for dag in dags])
    now = request.now
    return [dag_answer(dag, recent[dag.job.id], now=now) for dag in dags]


ROUTES: list[Any] = [
    create_dag,
    list_dags,
    get_dag,
    update_dag,
    delete_dag,
    pause_dag,
    resume_dag,
    trigger_dag,
    list_dag_runs,
]
