"""Calendars: the dates on which schedules do not fire."""

from __future__ import annotations

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import Field, Fields, many, name, parts, whole
from gnomon.api.described.resources import recurring as often
from gnomon.api.resources.calendars import (
    CalendarAnswer,
    CalendarForm,
    CalendarPage,
    ListedCalendarAnswer,
)
from gnomon.core.time.calendars import DATES_MAX, YEAR_MAX, YEAR_MIN
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import CalendarInUse, CalendarNotFound, VersionConflict

NAME = name("The name of the calendar, percent-encoded in a path.", "holidays")
_DATES = many(
    f"The dates on which schedules that name it do not fire, from {YEAR_MIN} to {YEAR_MAX}.",
    Field("string", "A date.", "2030-12-25", {"format": "date"}),
    up_to=DATES_MAX,
    example=["2030-01-01", "2030-12-25"],
)
_VERSION = often.VERSION.but("Grows whenever the dates change.")

FIELDS: Fields = {
    CalendarForm: {
        "dates": _DATES,
        "version": often.VERSION.but("The version that you have seen: refused if it is another by now."),
    },
    CalendarAnswer: {
        "name": NAME,
        "dates": _DATES,
        "version": _VERSION,
        "updated_at": often.UPDATED_AT,
    },
    ListedCalendarAnswer: {
        "name": NAME,
        "date_count": whole("How many dates it has.", 2, 0, DATES_MAX),
        "version": _VERSION,
        "updated_at": often.UPDATED_AT,
    },
    CalendarPage: {
        "calendars": parts("A page of calendars.", up_to=PAGE_LIMIT_MAX),
        "next_cursor": often.NEXT_CURSOR,
    },
}
CALLS: Calls = {
    "list_calendars": CallDescription("List calendars"),
    "get_calendar": CallDescription(
        "Get a calendar", parameters={"name": NAME}, refusals=(CalendarNotFound,), tags=True
    ),
    "put_calendar": CallDescription(
        "Make or change a calendar",
        parameters={"name": NAME},
        bodies={"Two holidays": {"dates": ["2030-01-01", "2030-12-25"]}},
        refusals=(CalendarNotFound, VersionConflict),
        takes_key=True,
        takes_version=True,
        tags=True,
    ),
    "delete_calendar": CallDescription(
        "Delete a calendar",
        parameters={"name": NAME},
        refusals=(CalendarNotFound, CalendarInUse, VersionConflict),
        takes_version=True,
        tags=True,
    ),
}
