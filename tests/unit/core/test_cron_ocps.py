"""What the Open Cron Pattern Specification, up to its draft 1.4, asks of an implementation."""

from __future__ import annotations

from datetime import datetime

import pytest

from gnomon.core.time.cron import parse
from gnomon.errors import InvalidCron

# Each expression with times that it must name and times that it must not name.
NAMES = [
    ("15 10 * * *", ["2025-03-10 10:15:00"], ["2025-03-10 10:14:00", "2025-03-10 10:15:30"]),
    ("30 8 * jan Mon", ["2025-01-06 08:30:00"], ["2025-02-03 08:30:00"]),
    ("5-59/15 9 * * *", ["2025-03-10 09:05:00", "2025-03-10 09:50:00"], ["2025-03-10 09:15:00"]),
    ("0 12 1 * MON", ["2025-10-01 12:00:00", "2025-10-06 12:00:00"], ["2025-10-07 12:00:00"]),
    ("0 12 * * MON", ["2025-10-06 12:00:00"], ["2025-10-07 12:00:00"]),
    ("0 12 1-31 * MON", ["2025-10-06 12:00:00", "2025-10-07 12:00:00"], ["2025-10-08 11:00:00"]),
    ("@yearly", ["2026-01-01 00:00:00"], ["2026-01-02 00:00:00"]),
    ("@weekly", ["2025-10-05 00:00:00"], ["2025-10-06 00:00:00"]),
    ("30 15 10 * * *", ["2025-03-10 10:15:30"], ["2025-03-10 10:15:29"]),
    ("0 15 10 * * * 2025", ["2025-03-10 10:15:00"], ["2026-03-10 10:15:00"]),
    ("0 0 0 1 1 * 1970-2199/2", ["2026-01-01 00:00:00"], ["2025-01-01 00:00:00"]),
    ("0 0 0 1 1 * */2", ["2026-01-01 00:00:00"], ["2025-01-01 00:00:00"]),
    ("0 0 0 1 1 * 2025,2030-2032", ["2025-01-01 00:00:00", "2031-01-01 00:00:00"], ["2026-01-01 00:00:00"]),
    ("0 0 L * *", ["2025-02-28 00:00:00"], ["2025-02-27 00:00:00"]),
    ("0 0 * * FRI#L", ["2025-02-28 00:00:00"], ["2025-02-21 00:00:00"]),
    ("0 0 * * TUE#3", ["2025-06-17 00:00:00"], ["2025-06-10 00:00:00"]),
    ("0 12 15W * *", ["2025-06-16 12:00:00"], ["2025-06-15 12:00:00"]),
    ("0 12 1W * *", ["2025-02-03 12:00:00"], ["2025-02-01 12:00:00"]),
    ("0 12 1 * +MON", ["2025-09-01 12:00:00"], ["2025-09-08 12:00:00", "2025-10-01 12:00:00"]),
    ("0 12 1-7 * +MON,TUE", ["2025-09-01 12:00:00", "2025-09-02 12:00:00"], ["2025-09-03 12:00:00"]),
    ("0 12 13 * +FRI", ["2026-02-13 12:00:00"], ["2026-01-13 12:00:00", "2026-01-16 12:00:00"]),
]
REFUSED = [
    "60 0 * * *", "0 0 10-5 * *", "0 0 /30 * *", "@Daily", "@daily 0 0 * * *", "0 12 1-15W * *",
    "0 12 +1 * MON", "? 12 * * *", "0 0 0 1 1 * 1969",
]  # fmt: skip


@pytest.mark.parametrize(("expression", "named", "others"), NAMES)
def test_an_expression_names_the_times_that_it_must(
    expression: str, named: list[str], others: list[str]
) -> None:
    cron = parse(expression)
    for text in named:
        assert cron.at_or_after(datetime.fromisoformat(text)) == datetime.fromisoformat(text)
    for text in others:
        assert cron.at_or_after(datetime.fromisoformat(text)) != datetime.fromisoformat(text)


@pytest.mark.parametrize("expression", REFUSED)
def test_what_it_refuses_is_refused(expression: str) -> None:
    with pytest.raises(InvalidCron):
        parse(expression)


def test_the_last_year_of_an_expression_ends_it() -> None:
    cron = parse("0 0 0 1 1 * 2026-2027")
    first, last = datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2027-01-01")
    assert cron.next(datetime.fromisoformat("1999-06-01")) == first
    assert cron.next(first) == last
    assert cron.next(last) is None
    assert cron.previous(datetime.fromisoformat("2100-01-01")) == last
    assert cron.previous(first) is None
