"""What is refused, and that the refusal names the field, the value and the reason."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter

import pytest

from gnomon.core.time.cron import MACROS, parse
from gnomon.core.time.dst import times
from gnomon.errors import InvalidCron


@pytest.mark.parametrize(
    ("expression", "part", "value", "reason"),
    [
        ("60 * * * *", "minute", "60", "minute takes 0-59"),
        ("61 * * * *", "minute", "61", "minute takes 0-59"),
        ("60 * * * * *", "second", "60", "second takes 0-59"),
        ("0 24 * * *", "hour", "24", "hour takes 0-23"),
        ("0 0 0 * *", "day-of-month", "0", "day-of-month takes 1-31"),
        ("0 0 32 * *", "day-of-month", "32", "day-of-month takes 1-31"),
        ("0 0 * 13 *", "month", "13", "month takes 1-12 or JAN-DEC"),
        ("0 0 * * 8", "day-of-week", "8", "day-of-week takes 0-7 or SUN-SAT"),
        ("0 0 * FOO *", "month", "FOO", "month takes 1-12 or JAN-DEC"),
        ("0 0 * MON *", "month", "MON", "month takes"),
        ("99999999999999999999 * * * *", "minute", "99999999999999999999", "out of range"),
        ("0 0 10-5 * *", "day-of-month", "10-5", "runs backwards; write it as two, 10-31,1-5"),
        ("0 22-2 * * *", "hour", "22-2", "runs backwards; write it as two, 22-23,0-2"),
        ("0 0 * * FRI-MON", "day-of-week", "FRI-MON", "runs backwards"),
        ("0-60 * * * *", "minute", "60", "minute takes 0-59"),
        ("*/0 * * * *", "minute", "*/0", "minute takes steps of 1-60"),
        ("*/61 * * * *", "minute", "*/61", "minute takes steps of 1-60"),
        ("*/-1 * * * *", "minute", "*/-1", "a step is a whole number of at least 1"),
        ("/30 * * * *", "minute", "/30", "not a value"),
        ("*/ * * * *", "minute", "*/", "not a value"),
        ("1,,2 * * * *", "minute", "", "empty item"),
        ("1, * * * *", "minute", "", "empty item"),
        ("*-5 * * * *", "minute", "*-5", "cannot start a range"),
        ("** * * * *", "minute", "**", "not a value"),
        ("-5 * * * *", "minute", "-5", "not a value"),
        ("? 12 * * *", "minute", "?", "only in day-of-month or day-of-week"),
        ("0 0 ?/2 * *", "day-of-month", "?/2", "stands alone"),
        ("0 0 L-31 * *", "day-of-month", "L-31", "L-n takes 0-30"),
        ("0 0 1-15W * *", "day-of-month", "1-15W", "for one day each"),
        ("0 0 L-3W * *", "day-of-month", "L-3W", "for one day each"),
        ("0 0 32W * *", "day-of-month", "32", "day-of-month takes 1-31"),
        ("0 0 W * *", "day-of-month", "W", "for one day each"),
        ("0 0 * * L", "day-of-week", "L", "take one weekday"),
        ("0 0 * * MON-FRI#2", "day-of-week", "MON-FRI#2", "take one weekday"),
        ("0 9 * * MON#6", "day-of-week", "MON#6", "#1-#5"),
        ("0 9 * * MON#0", "day-of-week", "MON#0", "#1-#5"),
        ("0 9 * * FOO#1", "day-of-week", "FOO", "day-of-week takes"),
        ("L * * * *", "minute", "L", "not a value"),
        ("0 0 MON#1 * *", "day-of-month", "MON#1", "not a value"),
        ("H(5-1) * * * *", "minute", "5-1", "runs backwards"),
        ("H(1-99) * * * *", "minute", "99", "minute takes 0-59"),
        ("H-5 * * * *", "minute", "H-5", "H is written as"),
        ("H/0 * * * *", "minute", "H/0", "steps of 1-60"),
        ("0 0 30 2 *", "day-of-month", "30", "never fires"),
        ("0 0 31 4,6 *", "day-of-month", "31", "never fires"),
        ("0 0 31 2,4,6,9,11 *", "day-of-month", "31", "never fires"),
        ("0 0 30W 2 *", "day-of-month", "30W", "never fires"),
        ("0 0 L-29 2 *", "day-of-month", "L-29", "never fires"),
        ("0 0 */31 * MON#2", "day-of-month", "*/31", "never fires"),
        ("* * * *", "expression", "4 fields", "5 fields"),
        ("* * * * * * 2026 *", "expression", "8 fields", "7 with the year last"),
        ("0 0 0 1 1 * 1969", "year", "1969", "1969 is out of range: year takes 1970-2199"),
        ("0 0 0 1 1 * 2200", "year", "2200", "2200 is out of range: year takes 1970-2199"),
        ("0 0 0 1 1 * H", "year", "H", "H spreads jobs over the times of a year"),
        ("0 0 0 1 1 * ?", "year", "?", "'?' stands alone, and only in day-of-month or day-of-week"),
        ("0 0 0 29 2 * 2025-2027", "year", "2025-2027", "never fires: no year that the expression names"),
        ("0 0 0 29 2 +MON 2028", "year", "2028", "never fires: no year that the expression names"),
        ("0 12 +1 * MON", "day-of-month", "+1", "'+' stands once, before the whole day-of-week field"),
        ("0 12 1 * MON,+TUE", "day-of-week", "+TUE", "'+' stands once, before the whole day-of-week field"),
        ("0 12 1 * ++MON", "day-of-week", "+MON", "'+' stands once, before the whole day-of-week field"),
        ("0 12 1 * +", "day-of-week", "", "a list has an empty item"),
        ("", "expression", "0 fields", "5 fields"),
        ("   ", "expression", "0 fields", "5 fields"),
        ("@reboot", "macro", "@reboot", "supported are @yearly"),
        ("@every 5m", "macro", "@every 5m", "supported are @yearly"),
        ("@Daily", "macro", "@Daily", "supported are @yearly"),
        ("@daily 0 0 * * *", "macro", "@daily 0 0 * * *", "supported are @yearly"),
        ("\u0661 * * * *", "expression", "\u0661", "ASCII"),
        ("\u00b2 * * * *", "expression", "\u00b2", "ASCII"),
        ("0 0 * * MON\x00", "expression", "\x00", "ASCII"),
        ("0 0 * *\n*", "expression", "\n", "ASCII"),
        ("0 0 * * *\n", "expression", "\n", "ASCII"),
        ("0\u00a00 * * *", "expression", "\u00a0", "ASCII"),
        ("1_0 * * * *", "expression", "_", "ASCII"),
        ("+5 * * * *", "minute", "+5", "'+' stands once"),
        ("1.5 * * * *", "expression", ".", "ASCII"),
        ("CRON_TZ=Asia/Tokyo 0 9 * * *", "expression", "_", "time zone is a setting"),
    ],
)
def test_a_refusal_names_the_field_the_value_and_the_reason(
    expression: str, part: str, value: str, reason: str
) -> None:
    with pytest.raises(InvalidCron) as refusal:
        parse(expression)

    assert refusal.value.part == part
    assert refusal.value.value == value
    assert reason in refusal.value.cause
    assert refusal.value.code == "INVALID_CRON"


def test_an_unknown_macro_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidCron) as refusal:
        parse("@reboot")

    assert all(macro in refusal.value.cause for macro in MACROS)


@pytest.mark.parametrize("expression", ["0" + ",0" * 10_000, "*" * 65_536, "@" + "y" * 300])
def test_a_long_expression_is_refused_fast_and_not_repeated(expression: str) -> None:
    started = perf_counter()
    with pytest.raises(InvalidCron) as refusal:
        parse(expression)

    assert perf_counter() - started < 0.01
    assert "at most 256" in refusal.value.cause
    assert len(str(refusal.value)) < 300


def test_the_longest_expression_is_read() -> None:
    expression = "0" + ",0" * 123 + " * * * *"
    assert len(expression) == 255
    assert parse(expression).minutes == 1


def test_a_day_that_is_rare_is_not_refused() -> None:
    after = datetime(2097, 1, 1, tzinfo=UTC)
    assert times("0 0 29 2 *", "UTC").next(after) == datetime(2104, 2, 29, tzinfo=UTC)
    # A leap day that is a Monday, across a century without one.
    assert times("0 0 * 2 MON#5", "UTC").next(after) == datetime(2112, 2, 29, tzinfo=UTC)
