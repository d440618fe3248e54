"""Jobs over HTTP: make, list, look at, change, pause, resume, trigger, cancel, delete."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
from litestar import Response, delete, get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import UNSET, UnsetType

from gnomon.api.forms.ids import Cursors
from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.forms.job_answers import (
    CancelledJob,
    JobAnswer,
    JobDetails,
    JobPage,
    job_answer,
    job_details,
    job_fields,
)
from gnomon.api.forms.job_forms import JobPatch, NewJob, definition_of, draft_of, words_of_job
from gnomon.api.forms.reading import Body, Seen
from gnomon.api.forms.words import in_words
from gnomon.api.serving.call import Call
from gnomon.api.serving.encoded import Encoded, InParts, in_parts
from gnomon.api.serving.policy import READS, WRITES, WRITES_MANY
from gnomon.client import Client
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import DEPENDENCIES_MAX, Job, JobId, JobStatus
from gnomon.core.jobs.shown import shown_job
from gnomon.core.time.schedule_document import TYPES
from gnomon.core.values.document import check_name
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.instants import parse_instant
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT
from gnomon.errors import InvalidInput

BATCH_MAX = 1000

Shown = TypeVar("Shown", bound=JobAnswer)


class NewJobs(Form):
    jobs: list[NewJob]


class JobsMade(Answer):
    jobs: list[JobAnswer]


@post("/v1/jobs", policy=WRITES, dto=Body[NewJob], return_dto=None)
async def create_job(data: JSONBody[NewJob], request: Call) -> Response[JobAnswer]:
    """Make a job. Send an `Idempotency-Key`, and a call that is repeated makes one job."""
    began = request.now
    with in_words(lambda: words_of_job(data)):
        draft = await draft_of(data, Dependencies(request.verbs).ids, now=began)
        job = await request.verbs.jobs.create(draft, idempotency=await request.idempotency())
    [answer] = await answers([job], request, since=began)
    return tagged(job, answer, status_code=201, headers={"Location": f"/v1/jobs/{job.id}"})


@post("/v1/jobs/batch", policy=WRITES_MANY, dto=Body[NewJobs], return_dto=None)
async def create_jobs(data: JSONBody[NewJobs], request: Call) -> JobsMade:
    """Make up to 1,000 jobs, all or none."""
    if len(data.jobs) > BATCH_MAX:
        raise InvalidInput("jobs", f"{len(data.jobs)} in one call; at most {BATCH_MAX} are accepted.")
    began, resolve = request.now, Dependencies(request.verbs).ids
    drafts = []

    def at(number: int) -> AbstractContextManager[None]:
        return in_words(partial(words_of_job, data.jobs[number]), under=f"jobs[{number}].")

    for number, form in enumerate(data.jobs):
        with at(number):
            drafts.append(await draft_of(form, resolve, now=began))
    idempotency = await request.idempotency()
    jobs = await request.verbs.jobs.create_many(drafts, idempotency=idempotency, at=at)
    return JobsMade(jobs=await answers(jobs, request, since=began))


@get("/v1/jobs", policy=READS)
async def list_jobs(
    request: Call,
    status: FromQuery[JobStatus | None] = None,
    tag: FromQuery[str | None] = None,
    name: FromQuery[str | None] = None,
    name_prefix: FromQuery[str | None] = None,
    name_contains: FromQuery[str | None] = None,
    kind: FromQuery[str | None] = None,
    job_type: Annotated[str | None, QueryParameter(name="type")] = None,
    next_run_before: FromQuery[str | None] = None,
    next_run_after: FromQuery[str | None] = None,
    limit: FromQuery[int] = PAGE_LIMIT_DEFAULT,
    cursor: FromQuery[str | None] = None,
) -> InParts[JobPage]:
    """Newest first; deleted ones only if you ask for that status."""
    wanted = JobFilter(
        status=status,
        kind=kind,
        tag=tag,
        name=name,
        name_prefix=name_prefix,
        name_contains=name_contains,
        type=_schedule_type(job_type),
        next_run_before=_instant(next_run_before, "next_run_before"),
        next_run_after=_instant(next_run_after, "next_run_after"),
    )
    cursors = Cursors(request.verbs.tenant_id, "jobs", wanted)
    page = await request.verbs.jobs.list(wanted, limit=limit, after=cursors.read_id(cursor))
    shown = await answers(page.items, request)
    return await in_parts(JobPage(jobs=[], next_cursor=cursors.write_id(page.next)), shown)


@get("/v1/jobs/{job_id:str}", policy=READS)
async def get_job(job_id: FromPath[str], request: Call) -> Encoded[JobDetails]:
    """One job, with what runs of it now and what ended last."""
    verbs = request.verbs
    look = await verbs.jobs.look(read_job_id(job_id))
    schedule, skip = look.job.schedule, None
    if (calendar := schedule.get("calendar")) is not None:
        skip = await verbs.calendars.skip_of(
            calendar, look.job.next_run_time, timezone=schedule.get("timezone")
        )
    shown = job_details(look.job, look.recent, skip, now=verbs.now())
    return Encoded(msgspec.json.encode(shown), etag=look.job.version)


@put("/v1/jobs/{job_id:str}", policy=WRITES, dto=Body[JobPatch], return_dto=None)
async def update_job(job_id: FromPath[str], data: JSONBody[JobPatch], request: Call) -> Response[JobAnswer]:
    """Change what is given. Name the version that you have seen, in the body or as `If-Match`."""
    jobs, own_id = request.verbs.jobs, read_job_id(job_id)
    version = request.version(data.version)
    before = await jobs.get(own_id)
    with in_words(lambda: words_of_job(data)):
        definition = definition_of(data, before.definition, now=request.now)
        job = await jobs.update(
            own_id,
            version=version,
            name=_said(data.name),
            definition=None if definition == before.definition else definition,
            tags=_said_list(data.tags),
            dependencies=await Dependencies(request.verbs).change(data.dependencies),
            allow_unknown_kind=data.allow_unknown_kind,
            idempotency=await request.idempotency(),
        )
    return tagged(job, *await answers([job], request))


@delete("/v1/jobs/{job_id:str}", policy=WRITES, status_code=200)
async def delete_job(job_id: FromPath[str], request: Call) -> Response[JobAnswer]:
    """Soft: its name is free again, its history stays until retention. What runs is asked to stop."""
    job = await request.verbs.jobs.delete(read_job_id(job_id), version=request.version(None))
    return tagged(job, *await answers([job], request))


@post("/v1/jobs/{job_id:str}/pause", policy=WRITES, status_code=200, dto=Body[Seen], return_dto=None)
async def pause_job(
    job_id: FromPath[str], request: Call, data: JSONBody[Seen | None] = None
) -> Response[JobAnswer]:
    """Skip its due times from now on. What waits and runs goes on."""
    job = await request.verbs.jobs.pause(
        read_job_id(job_id), version=request.version((data or Seen()).version)
    )
    return tagged(job, *await answers([job], request))


@post("/v1/jobs/{job_id:str}/resume", policy=WRITES, status_code=200, dto=Body[Seen], return_dto=None)
async def resume_job(
    job_id: FromPath[str], request: Call, data: JSONBody[Seen | None] = None
) -> Response[JobAnswer]:
    """Fire again, from the next time on."""
    job = await request.verbs.jobs.resume(
        read_job_id(job_id), version=request.version((data or Seen()).version)
    )
    return tagged(job, *await answers([job], request))


@post("/v1/jobs/{job_id:str}/cancel", policy=WRITES, status_code=200, dto=Body[Seen], return_dto=None)
async def cancel_job(
    job_id: FromPath[str], request: Call, data: JSONBody[Seen | None] = None
) -> Response[CancelledJob]:
    """Stop for good: what waits ends, what runs is asked to stop. Safe to repeat."""
    job = await request.verbs.jobs.cancel(
        read_job_id(job_id), version=request.version((data or Seen()).version)
    )
    fields = job_fields(shown_job(job), (), now=request.now)
    return tagged(job, CancelledJob(**fields, cancelled_at=job.updated_at))


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Jobs that a caller names by id or, where that is easier, by name."""

    verbs: Client

    async def ids(self, words: Sequence[str]) -> frozenset[JobId]:
        """Raises InvalidInput, JobNotFound."""
        if len(words) > DEPENDENCIES_MAX:
            raise InvalidInput("dependencies", f"more than {DEPENDENCIES_MAX}.")
        return frozenset([await self._id(word) for word in words])

    async def change(self, words: list[str] | UnsetType | None) -> frozenset[JobId] | None:
        return None if words is UNSET else await self.ids(words or [])

    async def _id(self, word: str) -> JobId:
        try:
            return JobId(UUID(word))
        except ValueError:
            check_name(word, field="dependencies")
            return (await self.verbs.jobs.named(word)).id


async def answers(jobs: Sequence[Job], request: Call, *, since: datetime | None = None) -> list[JobAnswer]:
    """Jobs that were made since then have no runs yet: nobody looks for them."""
    old = [job for job in jobs if since is None or job.created_at < since]
    recent = await request.verbs.jobs.recent(old)
    now = request.now
    return [job_answer(job, recent.get(job.id, ()), now=now) for job in jobs]


def tagged(
    job: Job, answer: Shown, *, status_code: int = 200, headers: dict[str, str] | None = None
) -> Response[Shown]:
    """The answer with the version of the job as its tag, for `If-Match`."""
    return Response(answer, status_code=status_code, headers={"ETag": f'"{job.version}"'} | (headers or {}))


def _schedule_type(word: str | None) -> str | None:
    if word is None:
        return None
    if word.lower() not in TYPES:
        raise InvalidInput("type", f"{word[:100]!r} is not one of {', '.join(sorted(TYPES))}.")
    return TYPES[word.lower()]


def _instant(text: str | None, field: str) -> datetime | None:
    return None if text is None else parse_instant(text, field=field)


def _said(value: str | UnsetType) -> str | None:
    return None if isinstance(value, UnsetType) else value


def _said_list(value: list[str] | UnsetType | None) -> list[str] | None:
    return None if isinstance(value, UnsetType) else value or []


ROUTES = [
    create_job,
    create_jobs,
    list_jobs,
    get_job,
    update_job,
    delete_job,
    pause_job,
    resume_job,
    cancel_job,
]
