"""Calendars over HTTP: dates on which the schedules that name them do not fire."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from litestar import Response, delete, get, put
from litestar.params import FromPath, FromQuery, JSONBody

from gnomon.api.forms.ids import Cursors, calendar_name, new_calendar_name
from gnomon.api.forms.reading import Body
from gnomon.api.serving.call import Call
from gnomon.api.serving.policy import READS, WRITES
from gnomon.core.time.calendars import KeptCalendar, parse_dates
from gnomon.core.values.forms import Answer, Form
from gnomon.core.values.limits import PAGE_LIMIT_DEFAULT


class CalendarForm(Form):
    dates: list[str]
    version: int | None = None


class CalendarAnswer(Answer):
    name: str
    dates: list[date]
    version: int
    updated_at: datetime


class ListedCalendarAnswer(Answer):
    name: str
    date_count: int
    version: int
    updated_at: datetime


class CalendarPage(Answer):
    calendars: list[ListedCalendarAnswer]
    next_cursor: str | None


@get("/v1/calendars", policy=READS)
async def list_calendars(
    request: Call, limit: FromQuery[int] = PAGE_LIMIT_DEFAULT, cursor: FromQuery[str | None] = None
) -> CalendarPage:
    """By name."""
    cursors = Cursors(request.verbs.tenant_id, "calendars")
    found = await request.verbs.calendars.list(limit=limit, after=cursors.read_name(cursor))
    last = found[-1].name if len(found) == limit else None
    shown = [ListedCalendarAnswer(**one._asdict()) for one in found]
    return CalendarPage(calendars=shown, next_cursor=cursors.write_name(last))


@get("/v1/calendars/{name:str}", policy=READS)
async def get_calendar(name: FromPath[str], request: Call) -> Response[CalendarAnswer]:
    """One calendar, with its dates in order."""
    return _tagged(await request.verbs.calendars.get(calendar_name(name)))


@put("/v1/calendars/{name:str}", policy=WRITES, dto=Body[CalendarForm], return_dto=None)
async def put_calendar(
    name: FromPath[str], data: JSONBody[CalendarForm], request: Call
) -> Response[CalendarAnswer]:
    """Make the calendar, or replace its dates. It counts for every time that comes after the answer."""
    kept = await request.verbs.calendars.save(
        new_calendar_name(name),
        parse_dates(data.dates),
        version=request.version(data.version),
        idempotency=await request.idempotency(),
    )
    return _tagged(kept)


@delete("/v1/calendars/{name:str}", policy=WRITES, status_code=200)
async def delete_calendar(name: FromPath[str], request: Call) -> Response[CalendarAnswer]:
    """Refused while the schedule of an active or paused job or workflow names it."""
    version = request.version(None)
    return _tagged(await request.verbs.calendars.delete(calendar_name(name), version=version))


def _tagged(kept: KeptCalendar) -> Response[CalendarAnswer]:
    """With its version as its tag, for `If-Match`."""
    answer = CalendarAnswer(
        name=kept.calendar.name,
        dates=sorted(kept.calendar.dates),
        version=kept.version,
        updated_at=kept.updated_at,
    )
    return Response(answer, status_code=200, headers={"ETag": f'"{kept.version}"'})


ROUTES: list[Any] = [list_calendars, get_calendar, put_calendar, delete_calendar]
