"""What a schedule would do, before there is a job."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET

from gnomon.api.forms.ids import job_id as read_job_id
from gnomon.api.forms.reading import Body
from gnomon.api.forms.schedule_forms import NestedSchedule, Text, Times, given, schedule_of, words_of_times
from gnomon.api.forms.words import in_words
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS
from gnomon.client.jobs.jobs import PREVIEW_LIMIT_DEFAULT
from gnomon.core.schedules.preview import Preview
from gnomon.core.values.forms import Answer

_MINUTE = timedelta(minutes=1)


class PreviewForm(Times):
    """A schedule in either form. `name` matters to an expression with `H`."""

    job_type: Text = UNSET
    type: Text = UNSET
    cron_expression: Text = UNSET
    expression: Text = UNSET
    schedule: NestedSchedule | None = None
    name: str = ""
    limit: int = PREVIEW_LIMIT_DEFAULT


class Fire(Answer):
    """A nominal time to come. `skip` says why it will not fire, `note` what a DST change does to it."""

    nominal_time: datetime
    local_time: str
    utc_offset: str
    note: str | None
    skip: str | None


class Fires(Answer):
    fires: list[Fire]


@post("/v1/schedules/preview", policy=READS, dto=Body[PreviewForm], return_dto=None, status_code=200)
async def preview_schedule(data: JSONBody[PreviewForm], request: Call) -> Fires:
    """The next times of a schedule, with notes where the clock jumps."""
    said = given(data)
    name, limit, nested = said.pop("name"), said.pop("limit"), said.pop("schedule")
    with in_words(lambda: words_of_times(said, nested)):
        schedule = schedule_of(said, nested, now=request.now)
        return _fires(await request.verbs.jobs.preview_of(schedule, name=name, limit=limit))


@get("/v1/jobs/{job_id:str}/preview", policy=READS)
async def preview_job(
    job_id: FromPath[str], request: Call, limit: FromQuery[int] = PREVIEW_LIMIT_DEFAULT
) -> Fires:
    """The next times of a job, if it stays active."""
    return _fires(await request.verbs.jobs.preview(read_job_id(job_id), limit=limit))


def _fires(previews: Any) -> Fires:
    return Fires(fires=[_fire(one) for one in previews])


def _fire(one: Preview) -> Fire:
    local = one.nominal_time + one.utc_offset
    minutes = one.utc_offset // _MINUTE
    sign = "-" if minutes < 0 else "+"
    offset = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    return Fire(
        nominal_time=one.nominal_time,
        local_time=f"{local:%Y-%m-%dT%H:%M:%S}{offset}",
        utc_offset=offset,
        note=one.note,
        skip=one.skip,
    )


ROUTES: list[Any] = [preview_schedule, preview_job]
