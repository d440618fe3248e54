"""The most obvious scheduler: look at every minute (or second), one after the other.

It shares no code with `gnomon.core.time.cron` and `gnomon.core.time.dst`. It is slow, and plain enough to be
believed.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from importlib import resources
from zoneinfo import ZoneInfo

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


@cache
def zone(name: str) -> ZoneInfo:
    with resources.files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@dataclass(frozen=True)
class Pattern:
    """An expression as seven lists of words; a time matches when each list has a word that says so."""

    expression: str
    second: str
    minute: str
    hour: str
    day: str
    month: str
    weekday: str
    year: str = "*"

    def time_matches(self, civil: datetime) -> bool:
        return (
            number_matches(self.second, civil.second, 0, 59)
            and number_matches(self.minute, civil.minute, 0, 59)
            and number_matches(self.hour, civil.hour, 0, 23)
        )

    def date_matches(self, day: date) -> bool:
        if not number_matches(named(self.month, MONTHS, 1), day.month, 1, 12):
            return False
        if self.year != "*" and not number_matches(self.year, day.year, 1970, 2199):
            return False
        by_date = any(date_word_matches(word, day) for word in self.day.split(","))
        by_weekday = any(weekday_word_matches(word, day) for word in self.weekday.lstrip("+").split(","))
        if self.day[0] in "*?" or self.weekday[0] in "*?+":
            return by_date and by_weekday
        return by_date or by_weekday

    def matches(self, civil: datetime) -> bool:
        return time_matches(self, civil.hour, civil.minute, civil.second) and date_matches(self, civil.date())


@cache
def pattern(expression: str) -> Pattern:
    fields = expression.upper().split()
    return Pattern(expression, *(fields if len(fields) > 5 else ["0", *fields]))


@cache
def time_matches(pattern: Pattern, hour: int, minute: int, second: int) -> bool:
    return pattern.time_matches(datetime(1, 1, 1, hour, minute, second))  # noqa: DTZ001 - civil.


@cache
def date_matches(pattern: Pattern, day: date) -> bool:
    return pattern.date_matches(day)


def named(text: str, names: list[str], first: int) -> str:
    for number, name in enumerate(names, first):
        text = text.replace(name, str(number))
    return text


def number_matches(text: str, value: int, low: int, high: int) -> bool:
    return any(value in numbers(word, low, high) for word in text.split(","))


def numbers(word: str, low: int, high: int) -> range:
    what, _, step = word.partition("/")
    if what == "*":
        return range(low, high + 1, int(step or 1))
    first, _, last = what.partition("-")
    end = int(last or (high if step else first))
    return range(int(first), end + 1, int(step or 1))


def date_word_matches(word: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if word == "?":
        return True
    if word == "LW" or word.endswith("W"):
        wanted = length if word == "LW" else int(word[:-1])
        return wanted <= length and day == nearest_working_day(day.replace(day=wanted))
    if word.startswith("L"):
        return day.day == length - int(word[2:] or 0)
    return day.day in numbers(word, 1, 31)


def nearest_working_day(day: date) -> date:
    for distance in (0, -1, 1, -2, 2):
        candidate = day + timedelta(days=distance)
        if candidate.month == day.month and candidate.weekday() < 5:
            return candidate
    raise AssertionError(day)


def weekday_word_matches(word: str, day: date) -> bool:
    word = named(word, WEEKDAYS, 0)
    same_in_month = [
        d
        for d in calendar.Calendar().itermonthdates(day.year, day.month)
        if d.month == day.month and d.weekday() == day.weekday()
    ]
    is_it = (day.isoweekday(), day.isoweekday() % 7)
    if word == "?":
        return True
    if "#" in word and not word.endswith("#L"):
        weekday, _, k = word.partition("#")
        return int(weekday) in is_it and same_in_month.index(day) == int(k) - 1
    if word.endswith("L"):
        return int(word.rstrip("#L")) in is_it and same_in_month[-1] == day
    return any(number in numbers(word, 0, 6 if word.startswith("*") else 7) for number in is_it)


def civil_after(expression: str, after: datetime, days: int) -> datetime | None:
    """The first matching civil time later than `after`, by looking at each of so many days."""
    wanted = pattern(expression)
    for offset in range(days):
        day = after.date() + timedelta(days=offset)
        if not date_matches(wanted, day):
            continue
        for moment in moments(wanted):
            if (civil := datetime.combine(day, datetime.min.time()) + moment) > after:
                return civil
    return None


@cache
def moments(wanted: Pattern) -> list[timedelta]:
    return [
        timedelta(hours=hour, minutes=minute, seconds=second)
        for hour in range(24)
        if number_matches(wanted.hour, hour, 0, 23)
        for minute in range(60)
        if number_matches(wanted.minute, minute, 0, 59)
        for second in range(60)
        if number_matches(wanted.second, second, 0, 59)
    ]


def shifts(zone: ZoneInfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """The instants in (start, end] at which the offset is not what it was one second before."""
    instant = start
    while instant < end:
        before = instant.astimezone(zone).utcoffset()
        following = instant + timedelta(days=1)
        if following.astimezone(zone).utcoffset() != before:
            for stride in (timedelta(hours=1), MINUTE, SECOND):
                while (instant + stride).astimezone(zone).utcoffset() == before:
                    instant += stride
            yield instant + SECOND
        instant = following


class Walk:
    """Every instant of a span with what the clock on the wall showed. Holds one shift at most."""

    def __init__(self, zone: ZoneInfo, start: datetime, end: datetime, step: timedelta = MINUTE) -> None:
        self.step = step
        self.readings: list[tuple[datetime, datetime]] = []
        self.instants_of: dict[datetime, list[datetime]] = {}
        while start <= end:
            civil = start.astimezone(zone).replace(tzinfo=None, fold=0)
            self.readings.append((start, civil))
            self.instants_of.setdefault(civil, []).append(start)
            start += step
        self.days = {civil.date() for civil in self.instants_of}

    def fires(self, expression: str, gap: str, fold: str) -> list[datetime]:
        wanted = pattern(expression)
        if wanted.hour.startswith("*"):
            return [instant for instant, civil in self.readings if wanted.matches(civil)]
        fired = set()
        for civil in self.matching(wanted):
            instants = self.instants_of.get(civil)
            if instants:
                fired |= {"first": {instants[0]}, "last": {instants[-1]}, "both": set(instants)}[fold]
            elif gap == "shift" and civil.date() in self.days:
                fired.add(self.first_after(civil))
        return sorted(fired)

    def skipped(self, expression: str, gap: str) -> list[tuple[datetime, datetime]]:
        wanted = pattern(expression)
        if wanted.hour.startswith("*"):
            return []
        return [
            (civil, self.first_after(civil))
            for civil in self.matching(wanted)
            if civil not in self.instants_of and (gap == "skip" or civil.date() not in self.days)
        ]

    def matching(self, wanted: Pattern) -> Iterator[datetime]:
        civil, last = min(self.instants_of), max(self.instants_of)
        while civil <= last:
            if wanted.matches(civil):
                yield civil
            civil += self.step

    def first_after(self, civil: datetime) -> datetime:
        return next(instant for instant, reading in self.readings if reading > civil)
