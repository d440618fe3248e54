"""Which civil times a cron expression names, by looking at every day and at every time of a day.

A second reading of `docs/reference/cron.md`. It shares no code with the first, is slow, and is plain enough
to be believed. Expressions come from a history, so they were accepted once: nothing is refused here.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, time, timedelta
from functools import lru_cache
from hashlib import sha256

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
PATTERNS_MAX = 1024


@dataclass(frozen=True, slots=True)
class Part:
    """One field of an expression: its words, and the values they may name. `H` chooses up to `hashed`."""

    name: str
    words: tuple[str, ...]
    low: int
    high: int
    hashed: int
    seed: str

    def names(self, value: int) -> bool:
        return any(value in self.values(word) for word in self.words)

    def values(self, word: str) -> range:
        if word.startswith("H"):
            return self._chosen(word)
        what, _, step = word.partition("/")
        if what in ("*", "?"):
            return range(self.low, min(self.high, self.hashed_or_all) + 1, int(step or 1))
        first, last = self._bounds(what)
        if last is None:
            last = self.high if step else first
        return range(first, last + 1, int(step or 1))

    @property
    def hashed_or_all(self) -> int:
        """Where `*` ends. Sunday is 0 and 7, and a star counts it once."""
        return 6 if self.name == "day-of-week" else self.high

    def _bounds(self, text: str) -> tuple[int, int | None]:
        first, _, last = text.partition("-")
        low = int(first)
        # SUN is 0; at the end of a range it is the Sunday that follows.
        return low, (7 if last == "SUN" and low > 0 else int(last.replace("SUN", "0"))) if last else None

    def _chosen(self, word: str) -> range:
        what, _, step = word.partition("/")
        low, high = self.low, self.hashed
        if "(" in what:
            first, last = self._bounds(what[2:-1])
            assert last is not None
            low, high = first, last
        number = int.from_bytes(sha256(f"{self.name}\0{self.seed}".encode()).digest()[:8], "big")
        if not step:
            chosen = low + number % (high - low + 1)
            return range(chosen, chosen + 1)
        return range(low + number % min(int(step), high - low + 1), high + 1, int(step))


@dataclass(frozen=True, slots=True)
class Pattern:
    hour_starts_with_star: bool
    times: tuple[time, ...]  # All of a day that match, in order.
    days: Part
    months: Part
    weekdays: Part
    must_match_both: bool
    years: Part | None

    def names_day(self, day: date) -> bool:
        if not self.months.names(day.month) or not (self.years is None or self.years.names(day.year)):
            return False
        by_date = any(date_matches(self.days, word, day) for word in self.days.words)
        by_weekday = any(weekday_matches(self.weekdays, word, day) for word in self.weekdays.words)
        if self.must_match_both or self.days.words[0][0] in "*?" or self.weekdays.words[0][0] in "*?":
            return by_date and by_weekday
        return by_date or by_weekday


@lru_cache(maxsize=PATTERNS_MAX)
def pattern(expression: str, seed: str = "") -> Pattern:
    texts = MACROS.get(expression, expression).upper().split()
    texts = ["0", *texts] if len(texts) == 5 else texts
    second, minute, hour, days, month, weekday, year = texts if len(texts) == 7 else [*texts, "*"]

    def part(name: str, text: str, low: int, high: int, hashed: int | None = None) -> Part:
        return Part(name, tuple(text.split(",")), low, high, high if hashed is None else hashed, seed)

    seconds, minutes, hours = (
        [value for value in range(one.low, one.high + 1) if one.names(value)]
        for one in (
            part("second", second, 0, 59),
            part("minute", minute, 0, 59),
            part("hour", hour, 0, 23),
        )
    )
    return Pattern(
        hour.startswith("*"),
        tuple(time(h, m, s) for h in hours for m in minutes for s in seconds),
        part("day-of-month", days, 1, 31, 28),
        part("month", numbered(month, MONTHS, 1), 1, 12),
        part("day-of-week", numbered(weekday.lstrip("+"), WEEKDAYS[1:], 1), 0, 7, 6),
        must_match_both=weekday.startswith("+"),
        years=None if year == "*" else part("year", year, 1970, 2199),
    )


def numbered(text: str, names: list[str], first: int) -> str:
    """The text with numbers for names. SUN stays: it is 0, or 7 at the end of a range."""
    for number, name in enumerate(names, first):
        text = text.replace(name, str(number))
    return text.replace("SUN", "0") if "-SUN" not in text else _alone(text)


def _alone(text: str) -> str:
    return text.replace("-SUN", "-\0").replace("SUN", "0").replace("-\0", "-SUN")


def date_matches(part: Part, word: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if word.endswith("W"):
        wanted = length if word == "LW" else int(word[:-1])
        return wanted <= length and day == nearest_working_day(day.replace(day=wanted))
    if word.startswith("L"):
        return day.day == length - int(word[2:] or 0)
    return day.day in part.values(word)


def nearest_working_day(day: date) -> date:
    for distance in (0, -1, 1, -2, 2):
        candidate = day + timedelta(days=distance)
        if candidate.month == day.month and candidate.weekday() < 5:
            return candidate
    raise AssertionError(day)


def weekday_matches(part: Part, word: str, day: date) -> bool:
    is_it = (day.isoweekday(), day.isoweekday() % 7)
    weekday, _, number = word.partition("#")
    if number.isdigit():
        return int(weekday) in is_it and (day.day - 1) // 7 == int(number) - 1
    if word.endswith("L"):
        is_last = day.month != (day + timedelta(days=7)).month
        return int(weekday.rstrip("L")) in is_it and is_last
    return any(value in part.values(word) for value in is_it)
