"""Revisions of workflows over HTTP: list them, look at one, and tell two of them apart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import get
from litestar.params import FromPath, FromQuery, QueryParameter

from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import dag_id as read_dag_id
from gnomon.api.forms.ids import revision as read_revision
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS
from gnomon.core.values.forms import Answer
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.core.workflows.dag import DagRevision
from gnomon.core.workflows.diff import FieldDiff


class RevisionAnswer(Answer):
    dag_id: str
    revision: int
    tasks: int
    created_at: datetime
    definition: Any


class RevisionPage(Answer):
    revisions: list[RevisionAnswer]
    next_cursor: str | None


class FieldChange(Answer):
    """Null on a side where nothing is said."""

    before: Any
    after: Any


class TaskChange(Answer):
    name: str
    fields: dict[str, FieldChange]


class DiffAnswer(Answer):
    """`fields` are those of the workflow itself."""

    dag_id: str
    from_revision: int
    to_revision: int
    fields: dict[str, FieldChange]
    tasks_added: list[str]
    tasks_removed: list[str]
    tasks_changed: list[TaskChange]


@get("/v1/dags/{dag_id:str}/revisions", policy=READS)
async def list_dag_revisions(
    dag_id: FromPath[str],
    request: Call,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> RevisionPage:
    """Newest first, each with its definition."""
    dag = await request.verbs.dags.get(read_dag_id(dag_id))
    cursors = Cursors(request.verbs.tenant_id, "dag-revisions", dag.job.id)
    found = await request.verbs.dags.revisions(dag.job.id, limit=limit, before=cursors.read_number(cursor))
    is_last = len(found) < limit or found[-1].number == 1
    following = cursors.write_number(None if is_last else found[-1].number)
    return RevisionPage(revisions=[_revision(one) for one in found], next_cursor=following)


@get("/v1/dags/{dag_id:str}/revisions/{revision:str}", policy=READS)
async def get_dag_revision(dag_id: FromPath[str], revision: FromPath[str], request: Call) -> RevisionAnswer:
    """One revision, by its number."""
    dag = await request.verbs.dags.get(read_dag_id(dag_id))
    return _revision(await request.verbs.dags.revision(dag, read_revision(revision)))


@get("/v1/dags/{dag_id:str}/diff", policy=READS)
async def diff_dag_revisions(
    dag_id: FromPath[str],
    request: Call,
    old: Annotated[int | None, QueryParameter(name="from")] = None,
    new: Annotated[int | None, QueryParameter(name="to")] = None,
) -> DiffAnswer:
    """What changed from one revision to another; unless you say which, from the one before to the current."""
    own_id = read_dag_id(dag_id)
    found = await request.verbs.dags.diff(own_id, old=old, new=new)
    return DiffAnswer(
        dag_id=str(own_id),
        from_revision=found.old,
        to_revision=found.new,
        fields=_fields(found.diff.fields),
        tasks_added=list(found.diff.added),
        tasks_removed=list(found.diff.removed),
        tasks_changed=[
            TaskChange(name=name, fields=_fields(fields)) for name, fields in found.diff.changed.items()
        ],
    )


def _fields(fields: Mapping[str, FieldDiff]) -> dict[str, FieldChange]:
    return {name: FieldChange(before=one.before, after=one.after) for name, one in fields.items()}


def _revision(one: DagRevision) -> RevisionAnswer:
    return RevisionAnswer(
        dag_id=str(one.dag_id),
        revision=one.number,
        tasks=one.tasks,
        created_at=one.created_at,
        definition=msgspec.Raw(one.definition.text.encode()),
    )


ROUTES: list[Any] = [list_dag_revisions, get_dag_revision, diff_dag_revisions]
