"""Cron expressions and the civil times they name. Zones and daylight saving come later, in `dst`.

The search jumps field by field, in both directions, and stops at the ends of the calendar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gnomon.core.time.cron_fields import (
    DAY_OF_MONTH,
    EVERY_DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    YEAR,
    CronRefused,
    Days,
    read_days,
    read_values,
    read_years,
)
from gnomon.errors import InvalidCron

Time = tuple[int, int, int]
"""Hour, minute and second of a day."""

EXPRESSION_CHARS_MAX = 256
SHOWN_CHARS = 32
# A year of room at both ends, so that no zone pushes an instant off the calendar.
YEAR_MIN, YEAR_MAX = 2, 9998

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_ODD_CHARACTER = re.compile(r"[^0-9A-Za-z*?,/#()+ \t-]")
_ONE_SECOND = timedelta(seconds=1)
_MONTH_DAYS = (0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression, read. Times are civil: naive datetimes, as the clock on the wall shows them."""

    expression: str
    seconds: int
    minutes: int
    hours: int
    months: int
    days: Days
    runs_in_elapsed_time: bool
    """The hour field starts with `*`: the schedule follows the clock on the wall through every shift."""
    years: int | None = None
    """None: every year."""

    def next(self, after: datetime) -> datetime | None:
        """The first matching time strictly later than `after`; None past the end of the calendar."""
        if after.year > YEAR_MAX:
            return None
        return self.at_or_after(after.replace(microsecond=0) + _ONE_SECOND)

    def previous(self, before: datetime) -> datetime | None:
        """The last matching time strictly earlier than `before`; None past the start of the calendar."""
        if before.year < YEAR_MIN:
            return None
        return self.at_or_before(
            before.replace(microsecond=0) if before.microsecond else before - _ONE_SECOND
        )

    def at_or_after(self, start: datetime) -> datetime | None:
        """The first matching time from `start` on. `start` is a whole second."""
        year, month, day = start.year, start.month, start.day
        if year < YEAR_MIN:
            return self._first_after_month(YEAR_MIN - 1, 12)
        if self.months >> month & 1 and self._names_year(year):
            days = self._days(year, month) >> day
            if days & 1:
                time = self._time_from(start.hour, start.minute, start.second)
                if time is not None:
                    return _civil(year, month, day, time)
            days >>= 1
            if days:
                return _civil(year, month, day + 1 + _lowest(days), self._first_time())
        return self._first_after_month(year, month)

    def at_or_before(self, end: datetime) -> datetime | None:
        """The last matching time up to and including `end`. `end` is a whole second."""
        year, month, day = end.year, end.month, end.day
        if year > YEAR_MAX:
            return self._last_before_month(YEAR_MAX + 1, 1)
        if self.months >> month & 1 and self._names_year(year):
            days = self._days(year, month)
            if days >> day & 1:
                time = self._time_until(end.hour, end.minute, end.second)
                if time is not None:
                    return _civil(year, month, day, time)
            days &= (1 << day) - 1
            if days:
                return _civil(year, month, _highest(days), self._last_time())
        return self._last_before_month(year, month)

    def _days(self, year: int, month: int) -> int:
        length = _length(year, month)
        if self.days is EVERY_DAY:
            return (2 << length) - 2
        return self.days.in_month(length, date(year, month, 1).weekday())

    def _names_year(self, year: int) -> bool:
        return self.years is None or bool(self.years >> year & 1)

    def _year_after(self, year: int) -> int:
        if self.years is None:
            return year + 1
        later = self.years >> year + 1
        return year + 1 + _lowest(later) if later else YEAR_MAX + 1

    def _year_before(self, year: int) -> int:
        if self.years is None:
            return year - 1
        earlier = self.years & (1 << year) - 1
        return _highest(earlier) if earlier else YEAR_MIN - 1

    def _first_after_month(self, year: int, month: int) -> datetime | None:
        while True:
            later = self.months >> month + 1 if self._names_year(year) else 0
            if later:
                month += 1 + _lowest(later)
            else:
                year, month = self._year_after(year), _lowest(self.months)
            if year > YEAR_MAX:
                return None
            days = self._days(year, month)
            if days:
                return _civil(year, month, _lowest(days), self._first_time())

    def _last_before_month(self, year: int, month: int) -> datetime | None:
        while True:
            earlier = self.months & (1 << month) - 1 if self._names_year(year) else 0
            if earlier:
                month = _highest(earlier)
            else:
                year, month = self._year_before(year), _highest(self.months)
            if year < YEAR_MIN:
                return None
            days = self._days(year, month)
            if days:
                return _civil(year, month, _highest(days), self._last_time())

    def _first_time(self) -> Time:
        return _lowest(self.hours), _lowest(self.minutes), _lowest(self.seconds)

    def _last_time(self) -> Time:
        return _highest(self.hours), _highest(self.minutes), _highest(self.seconds)

    def _time_from(self, hour: int, minute: int, second: int) -> Time | None:
        """The first matching time of day from the given one on, or None when the day has no more."""
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1:
                seconds = self.seconds >> second
                if seconds:
                    return hour, minute, second + _lowest(seconds)
            minutes = self.minutes >> minute + 1
            if minutes:
                return hour, minute + 1 + _lowest(minutes), _lowest(self.seconds)
        hours = self.hours >> hour + 1
        if hours:
            return hour + 1 + _lowest(hours), _lowest(self.minutes), _lowest(self.seconds)
        return None

    def _time_until(self, hour: int, minute: int, second: int) -> Time | None:
        """The last matching time of day up to the given one, or None when the day has none before it."""
        if self.hours >> hour & 1:
            if self.minutes >> minute & 1:
                seconds = self.seconds & (2 << second) - 1
                if seconds:
                    return hour, minute, _highest(seconds)
            minutes = self.minutes & (1 << minute) - 1
            if minutes:
                return hour, _highest(minutes), _highest(self.seconds)
        hours = self.hours & (1 << hour) - 1
        if hours:
            return _highest(hours), _highest(self.minutes), _highest(self.seconds)
        return None


def parse(expression: str, *, seed: str = "") -> Cron:
    """Read an expression. `seed` names the job ("tenant/job"): `H` chooses the same values for the same seed.

    Raises `InvalidCron`, which names the field, the value and the reason.
    """
    second, minute, hour, dates, month, weekdays, years = _split(expression)
    try:
        cron = Cron(
            expression,
            read_values(SECOND, second, seed),
            read_values(MINUTE, minute, seed),
            read_values(HOUR, hour, seed),
            read_values(MONTH, month, seed),
            read_days(dates, weekdays, seed),
            runs_in_elapsed_time=hour.startswith("*"),
            years=read_years(years),
        )
    except CronRefused as refused:
        raise InvalidCron(expression, part=refused.part, value=refused.value, reason=refused.reason) from None
    if not _ever_fires(cron):
        raise InvalidCron(
            expression,
            part=DAY_OF_MONTH.name,
            value=dates,
            reason="never fires: no month that the expression names has such a day",
        )
    if cron.years is not None and cron.at_or_after(_civil(YEAR.low, 1, 1, (0, 0, 0))) is None:
        reason = "never fires: no year that the expression names has such a day"
        raise InvalidCron(expression, part=YEAR.name, value=years, reason=reason)
    return cron


def _split(expression: str) -> list[str]:
    """The seven fields of an expression, in capitals; macros, five and six fields are written out."""
    if len(expression) > EXPRESSION_CHARS_MAX:
        reason = f"{len(expression)} characters; an expression has at most {EXPRESSION_CHARS_MAX}"
        shown = expression[:SHOWN_CHARS] + "..."
        raise InvalidCron(shown, part="expression", value=shown, reason=reason)
    if expression.startswith("@"):
        if expression not in MACROS:
            raise InvalidCron(
                expression, part="macro", value=expression, reason=f"supported are {' '.join(MACROS)}"
            )
        return ["0", *MACROS[expression].split(), "*"]
    odd = _ODD_CHARACTER.search(expression)
    if odd is not None:
        raise InvalidCron(expression, part="expression", value=odd[0], reason=_why_odd(expression))
    texts = expression.upper().split()
    match len(texts):
        case 5:
            return ["0", *texts, "*"]
        case 6:
            return [*texts, "*"]
        case 7:
            return texts
    raise InvalidCron(
        expression,
        part="expression",
        value=f"{len(texts)} fields",
        reason="an expression has 5 fields (minute hour day-of-month month day-of-week), 6 with"
        " the second first, or 7 with the year last, too",
    )


def _why_odd(expression: str) -> str:
    if expression.startswith(("CRON_TZ=", "TZ=")):
        return "the time zone is a setting of the schedule, not a part of the expression"
    return "an expression is written with ASCII letters, digits and * ? , - / # ( ) +, fields split by spaces"


def _ever_fires(cron: Cron) -> bool:
    """Whether some month has a day that matches. A month of any length can begin on any weekday."""
    if cron.days is EVERY_DAY:
        return True
    for month in range(1, 13):
        if cron.months >> month & 1:
            for length in (28, 29) if month == 2 else (_MONTH_DAYS[month],):
                if any(cron.days.in_month(length, first) for first in range(7)):
                    return True
    return False


def _civil(year: int, month: int, day: int, time: Time) -> datetime:
    return datetime(year, month, day, *time)  # noqa: DTZ001 - civil times are naive on purpose.


def _length(year: int, month: int) -> int:
    if month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return 29
    return _MONTH_DAYS[month]


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _highest(mask: int) -> int:
    return mask.bit_length() - 1
