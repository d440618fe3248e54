"""The fields of a cron expression: text in, bitmasks out.

In a mask bit `v` is set when the value `v` matches. Masks make a list, a range and a step the same thing,
and turn "the next value that matches" into one shift.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

LAST = 0
"""In place of a day of the month or of a number of a weekday: the last one of its month."""


class CronRefused(Exception):
    """Why one field cannot be read. `cron.parse` adds the expression."""

    def __init__(self, kind: CronField, value: str, reason: str) -> None:
        super().__init__(reason)
        self.part = kind.name
        self.value = value
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CronField:
    """One field of an expression: its name, its values, and the values among which `H` may choose."""

    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)
    hashed_high: int = -1
    wildcard_high: int = -1
    every: int = 0

    @property
    def allowed(self) -> str:
        names = f" or {next(iter(self.names))}-{list(self.names)[-1]}" if self.names else ""
        return f"{self.name} takes {self.low}-{self.high}{names}"


def _field(
    name: str, low: int, high: int, names: str = "", *, hashed: int = -1, wildcard: int = -1
) -> CronField:
    wildcard = high if wildcard < 0 else wildcard
    return CronField(
        name,
        low,
        high,
        {text: low + index for index, text in enumerate(names.split())},
        hashed_high=wildcard if hashed < 0 else hashed,
        wildcard_high=wildcard,
        every=span(low, wildcard),
    )


def span(low: int, high: int, step: int = 1) -> int:
    """The mask of low, low + step, ... up to high."""
    if step == 1:
        return (2 << high) - (1 << low)
    mask = 0
    for value in range(low, high + 1, step):
        mask |= 1 << value
    return mask


SECOND = _field("second", 0, 59)
MINUTE = _field("minute", 0, 59)
HOUR = _field("hour", 0, 23)
# H stays within 1-28, so that a hashed day exists in every month.
DAY_OF_MONTH = _field("day-of-month", 1, 31, hashed=28)
MONTH = _field("month", 1, 12, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
# Sunday is 0 and 7: 7 ends a range (5-7), but `*` counts it once.
DAY_OF_WEEK = _field("day-of-week", 0, 7, "SUN MON TUE WED THU FRI SAT", wildcard=6)
YEAR = _field("year", 1970, 2199)

_ITEM = re.compile(r"(\*|[0-9]+|[A-Z]{3})(?:-([0-9]+|[A-Z]{3}))?(?:/([0-9]+))?")
_HASHED = re.compile(r"H(?:\(([0-9]+|[A-Z]{3})-([0-9]+|[A-Z]{3})\))?(?:/([0-9]+))?")
_FROM_LAST = re.compile(r"L(?:-([0-9]+))?")
_NEAREST = re.compile(r"(L|[0-9]+)W")
_NTH = re.compile(r"([0-9]+|[A-Z]{3})(?:#([0-9]+|L)|L)")


def read_values(kind: CronField, text: str, seed: str) -> int:
    """The mask of a field without day rules. Raises `CronRefused`."""
    if text == "*":
        return kind.every
    if "," not in text:
        return _read_item(kind, text, seed)
    mask = 0
    for item in text.split(","):
        mask |= _read_item(kind, item, seed)
    return mask


def read_years(text: str) -> int | None:
    """The mask of the year field; None for every year there is. Raises `CronRefused`."""
    if text == "*":
        return None
    if "H" in text:
        raise CronRefused(YEAR, text, "H spreads jobs over the times of a year, not over years")
    return read_values(YEAR, text, seed="")


def _read_item(kind: CronField, item: str, seed: str) -> int:
    if item.isdigit():
        return 1 << _read_value(kind, item)
    if item.startswith("H"):
        return _read_hashed(kind, item, seed)
    found = _ITEM.fullmatch(item)
    if found is None:
        raise _unreadable(kind, item)
    first, last, step = found.groups()
    if first == "*":
        if last is not None:
            raise CronRefused(kind, item, "'*' already means every value; it cannot start a range")
        low, high = kind.low, kind.wildcard_high
    else:
        low = _read_value(kind, first)
        if last is not None:
            high = _read_range_end(kind, item, low, first, last)
        else:
            high = kind.high if step is not None else low
    return span(low, high, 1 if step is None else _read_step(kind, item, step))


def _read_value(kind: CronField, text: str) -> int:
    value = int(text) if text.isdigit() else kind.names.get(text, -1)
    if not kind.low <= value <= kind.high:
        raise CronRefused(kind, text, f"{text} is out of range: {kind.allowed}")
    return value


def _read_range_end(kind: CronField, item: str, low: int, first: str, last: str) -> int:
    high = _read_value(kind, last)
    if last == "SUN" and low > 0:
        high = kind.high  # FRI-SUN ends on the Sunday that follows.
    if high < low:
        raise CronRefused(
            kind,
            item,
            f"the range {item} runs backwards; write it as two, {first}-{kind.high},{kind.low}-{last}",
        )
    return high


def _read_step(kind: CronField, item: str, text: str) -> int:
    size = kind.wildcard_high - kind.low + 1
    step = int(text)
    if not 1 <= step <= size:
        raise CronRefused(kind, item, f"the step {text} is out of range: {kind.name} takes steps of 1-{size}")
    return step


def _read_hashed(kind: CronField, item: str, seed: str) -> int:
    """`H` chooses one value; `H/n` chooses where the steps of n begin. The same seed chooses the same."""
    found = _HASHED.fullmatch(item)
    if found is None:
        raise CronRefused(kind, item, "H is written as H, H(a-b), H/n or H(a-b)/n")
    first, last, step_text = found.groups()
    low, high = kind.low, kind.hashed_high
    if first is not None:
        low = _read_value(kind, first)
        high = _read_range_end(kind, f"{first}-{last}", low, first, last)
    digest = hashlib.sha256(f"{kind.name}\0{seed}".encode("utf-8", "surrogatepass")).digest()
    number = int.from_bytes(digest[:8], "big")
    if step_text is None:
        return 1 << low + number % (high - low + 1)
    step = _read_step(kind, item, step_text)
    return span(low + number % min(step, high - low + 1), high, step)


def _unreadable(kind: CronField, item: str) -> CronRefused:
    if not item:
        return CronRefused(kind, item, "a list has an empty item")
    if "+" in item:
        return CronRefused(
            kind, item, "'+' stands once, before the whole day-of-week field: both day fields must match"
        )
    if "?" in item:
        return CronRefused(kind, item, "'?' stands alone, and only in day-of-month or day-of-week")
    if "/-" in item:
        step = item.partition("/")[2]
        return CronRefused(kind, item, f"a step is a whole number of at least 1, not {step!r}")
    return CronRefused(
        kind, item, f"{item!r} is not a value, a range a-b or a step */n, a/n, a-b/n; {kind.allowed}"
    )


class Days(NamedTuple):
    """Which days of a month match."""

    dates: int
    """Days of the month by number."""
    from_last: tuple[int, ...]
    """Days counted back from the last one: L is 0, L-3 is 3."""
    nearest: tuple[int, ...]
    """Days whose nearest weekday, Monday to Friday, is meant: 15W is 15, LW is LAST."""
    weeks: int
    """Days of the week, Monday first, repeated for six weeks: a month begins somewhere in the first."""
    nth: tuple[tuple[int, int], ...]
    """(weekday, k): the k-th such weekday of the month, Monday = 0; k may be LAST."""
    both: bool
    """Must the date and the weekday match, or is one of them enough?"""

    def in_month(self, length: int, first: int) -> int:
        """The mask of the days that match in a month of `length` days whose 1st is the weekday `first`."""
        dates = self.dates
        weekdays = self.weeks >> first << 1
        for back in self.from_last:
            if back < length:
                dates |= 1 << length - back
        for day in self.nearest:
            if day <= length:
                dates |= 1 << _nearest_weekday(day or length, length, first)
        for weekday, k in self.nth:
            day = 1 + (weekday - first) % 7
            weekdays |= 1 << day + 7 * ((length - day) // 7 if k == LAST else k - 1)
        matching = dates & weekdays if self.both else dates | weekdays
        return matching & (2 << length) - 2


def _nearest_weekday(day: int, length: int, first: int) -> int:
    """Saturday moves to Friday and Sunday to Monday, but never into another month."""
    weekday = (first + day - 1) % 7
    if weekday == 5:
        return day - 1 if day > 1 else day + 2
    if weekday == 6:
        return day + 1 if day < length else day - 2
    return day


EVERY_DAY = Days(DAY_OF_MONTH.every, (), (), 2**42 - 1, (), both=True)


def read_days(dates_text: str, weekdays_text: str, seed: str) -> Days:
    """The two day fields, which decide together. Raises `CronRefused`."""
    must_both, weekdays_text = weekdays_text.startswith("+"), weekdays_text.removeprefix("+")
    if dates_text in ("*", "?") and weekdays_text in ("*", "?"):
        return EVERY_DAY
    dates, from_last, nearest = _read_dates(dates_text, seed)
    weekdays, nth = _read_weekdays(weekdays_text, seed)
    monday_first = (weekdays >> 1 | weekdays << 6) & 0x7F
    return Days(
        dates,
        from_last,
        nearest,
        # Ones every seventh bit, six times: the product repeats the week six times.
        monday_first * 0x810204081,
        nth,
        # As in Vixie cron: a field that starts with a star does not restrict by itself, so both must agree.
        both=must_both or dates_text[0] in "*?" or weekdays_text[0] in "*?",
    )


def _read_dates(text: str, seed: str) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    if text in ("*", "?"):
        return DAY_OF_MONTH.every, (), ()
    if "L" not in text and "W" not in text:
        return read_values(DAY_OF_MONTH, text, seed), (), ()
    mask, from_last, nearest = 0, [], []
    for item in text.split(","):
        if found := _FROM_LAST.fullmatch(item):
            back = int(found[1] or 0)
            if back > 30:
                raise CronRefused(DAY_OF_MONTH, item, f"L-{back} is out of range: L-n takes 0-30")
            from_last.append(back)
        elif found := _NEAREST.fullmatch(item):
            nearest.append(LAST if found[1] == "L" else _read_value(DAY_OF_MONTH, found[1]))
        elif "L" in item or "W" in item:
            raise CronRefused(DAY_OF_MONTH, item, "L and W are written as L, L-n, LW or nW, for one day each")
        else:
            mask |= _read_item(DAY_OF_MONTH, item, seed)
    return mask, tuple(from_last), tuple(nearest)


def _read_weekdays(text: str, seed: str) -> tuple[int, tuple[tuple[int, int], ...]]:
    if text in ("*", "?"):
        return DAY_OF_WEEK.every, ()
    mask, nth = 0, []
    for item in text.split(","):
        if "#" not in item and not item.endswith("L"):
            mask |= _read_item(DAY_OF_WEEK, item, seed)
            continue
        found = _NTH.fullmatch(item)
        if found is None:
            raise CronRefused(DAY_OF_WEEK, item, "L and # take one weekday: FRIL, 5L, FRI#L, FRI#1 to FRI#5")
        number = found[2] or "L"
        if number != "L" and not 1 <= int(number) <= 5:
            raise CronRefused(
                DAY_OF_WEEK, item, f"#{number} is out of range: a month has weekdays #1-#5, and #L"
            )
        weekday = (_read_value(DAY_OF_WEEK, found[1]) + 6) % 7
        nth.append((weekday, LAST if number == "L" else int(number)))
    return (mask | mask >> 7) & 0x7F, tuple(nth)
