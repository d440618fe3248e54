"""Calendars: named dates on which the schedules that name them do not fire.

The calendar is looked at when a due time has come, never before. So a change counts for every time that
nobody has decided about, and there is nothing to compute anew: `next_run_time` does not depend on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from gnomon.core.access.tenants import TenantId
from gnomon.core.values.document import check_name
from gnomon.errors import InvalidInput

DATES_MAX = 4000  # Every day of ten years. Looking for the last missed fire may go over all of them.
YEAR_MIN, YEAR_MAX = 1970, 2199
USERS_SHOWN_MAX = 5
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Calendar:
    """A date is read in the zone of the schedule: see `ClosedDays`."""

    tenant_id: TenantId
    name: str
    dates: frozenset[date]

    def __post_init__(self) -> None:
        check_name(self.name, field="name")
        if len(self.dates) > DATES_MAX:
            raise InvalidInput("dates", f"{len(self.dates)} dates; at most {DATES_MAX} are kept.")
        for day in self.dates:
            if not YEAR_MIN <= day.year <= YEAR_MAX:
                raise InvalidInput("dates", f"{day} is not in the years {YEAR_MIN} to {YEAR_MAX}.")


class KeptCalendar(NamedTuple):
    """With its version, which grows whenever its dates change."""

    calendar: Calendar
    version: int
    updated_at: datetime


class ListedCalendar(NamedTuple):
    """In a list: how many dates there are, not which."""

    name: str
    date_count: int
    version: int
    updated_at: datetime


def parse_dates(words: Sequence[str], *, field: str = "dates") -> frozenset[date]:
    """Dates as `2030-12-25`. Raises InvalidInput that names the first wrong one."""
    found = set()
    for place, word in enumerate(words):
        try:
            if not _DATE.fullmatch(word):
                raise ValueError
            found.add(date.fromisoformat(word))
        except ValueError:
            raise InvalidInput(
                f"{field}[{place}]", f"{word[:40]!r} is not a date such as '2030-12-25'."
            ) from None
    return frozenset(found)
