"""How much may happen in a test: which jobs fire by their schedules, and how many runs may start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar
from uuid import UUID

from gnomon.app.gnomon import Gnomon
from gnomon.app.jobs.declared_job import DeclaredJob
from gnomon.app.workflows.dag_function import DagFunction
from gnomon.client import Client
from gnomon.core.executions.records import Page
from gnomon.core.jobs.job import DAG_KIND, Definition, Job, JobStatus
from gnomon.core.time.schedule import Manual, Schedule
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import IllegalTransition, InvalidInput, JobNotFound

RUNS_MAX = 10_000
SHOWN_MAX = 3

Named: TypeAlias = "DeclaredJob[Any] | DagFunction | str"

Item = TypeVar("Item")

_NEVER = Schedule(Manual())
_SCHEDULE_KEYS = frozenset({"schedule", "cron_expression"})


def names_of(app: Gnomon, only: Collection[Named], *, others: Collection[str] = ()) -> frozenset[str]:
    """The names of jobs and workflows of the app, or of `others`. Raises InvalidInput for a stranger."""
    if isinstance(only, str | DeclaredJob | DagFunction):
        raise InvalidInput("only", "is a list of jobs, such as [daily_report].")
    names = frozenset(one if isinstance(one, str) else one.name for one in only)
    known = {*app.jobs, *app.dags, *others}
    for name in sorted(names - known):
        raise InvalidInput("only", f"no job is named {name!r}; there are {', '.join(sorted(known))}.")
    return names


class Pages(Protocol[Item]):
    async def __call__(self, *, limit: int, after: UUID | None) -> Page[Item]: ...


@dataclass(slots=True)
class Quiet:
    """Jobs that do not fire, since they have no schedule for now."""

    client: Client
    _before: list[tuple[Job, Any]] = field(default_factory=list)

    async def silence(self, app: Gnomon, only: Collection[Named]) -> None:
        """Take the schedules of all jobs but these. They can still be enqueued."""
        jobs = await self._scheduled()
        names = names_of(app, only, others=[job.name for job in jobs])
        for job in jobs:
            if job.name not in names:
                self._before.append((job, await self._take(job)))

    async def restore(self) -> None:
        """Give them back. They fire from the time that it is now; what was meanwhile is not caught up."""
        for job, before in self._before:
            with suppress(JobNotFound, IllegalTransition):  # The test has deleted or cancelled it.
                if (await self.client.jobs.get(job.id)).definition.schedule != _NEVER:
                    continue  # The test has given it another one.
                if isinstance(before, Definition):
                    await self.client.jobs.update(job.id, definition=before)
                else:
                    await self.client.dags.update(job.id, before)

    async def _take(self, job: Job) -> Definition | Mapping[str, Any]:
        """What it was before."""
        if job.definition.kind != DAG_KIND:
            definition = replace(job.definition, schedule=_NEVER)
            await self.client.jobs.update(job.id, definition=definition)
            return job.definition
        dag = await self.client.dags.get(job.id)
        before = (await self.client.dags.revision(dag)).definition.value
        assert isinstance(before, dict)
        kept = {key: value for key, value in before.items() if key not in _SCHEDULE_KEYS}
        await self.client.dags.update(job.id, kept | {"schedule": dict(to_document(_NEVER))})
        return before

    async def _scheduled(self) -> list[Job]:
        jobs = await _all(self.client.jobs.list)
        workflows = [dag.job for dag in await _all(self.client.dags.list)]
        return [
            job
            for job in (*jobs, *workflows)
            if job.status in (JobStatus.ACTIVE, JobStatus.PAUSED)
            and not isinstance(job.definition.schedule.timing, Manual)
        ]


async def _all(pages: Pages[Item]) -> list[Item]:
    found: list[Item] = []
    after = None
    while True:
        page = await pages(limit=PAGE_LIMIT_MAX, after=after)
        found += page.items
        after = page.next
        if after is None:
            return found


class Allowed(NamedTuple):
    """So many runs may start, beside those that have started before."""

    limit: int
    before: int


def check_limit(limit: int) -> int:
    if type(limit) is not int or limit < 1:
        raise InvalidInput("limit", f"{limit!r} is not a whole number of at least 1.")
    return limit


def too_many(limit: int, runs: Mapping[str, int], *, now: datetime) -> InvalidInput:
    """The error of a test in which more happens than it allows. `runs` is how many each job has had."""
    most = sorted(runs.items(), key=lambda one: -one[1])[:SHOWN_MAX]
    shown = ", ".join(f"{count} of {name}" for name, count in most)
    return InvalidInput(
        "limit",
        f"more than {limit} runs have started, and it is only {now.isoformat()}. Most were {shown}. "
        "Name the jobs that shall fire by their schedules (only=[...]), or raise the limit.",
    )
