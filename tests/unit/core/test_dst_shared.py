"""The shared fire times: one object, one search, many askers; never a different answer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.time.cron import parse
from gnomon.core.time.dst import KNOWN_TIMES_MAX, CronTimes, Fold, Gap, times

START = datetime(2026, 3, 1, tzinfo=UTC)


def test_equal_arguments_share_one_object() -> None:
    ours = times("0 9 * * THU", "Europe/Berlin", seed="acme/report")

    assert times("0 9 * * THU", "Europe/Berlin", seed="acme/other") is ours
    assert times("0 9 * * THU", "Europe/Berlin", gap=Gap.SHIFT, fold=Fold.FIRST) is ours
    assert times("0 9 * * THU", "Europe/Paris") is not ours
    assert times("0 9 * * THU", "Europe/Berlin", gap=Gap.SKIP) is not ours
    assert times("@monthly", "UTC", seed="acme/report") is times("@monthly", "UTC", seed="acme/other")


def test_hashed_expressions_share_only_with_their_own_seed() -> None:
    ours = times("H H * * *", "UTC", seed="acme/report")

    assert times("H H * * *", "UTC", seed="acme/report") is ours
    assert times("H H * * *", "UTC", seed="acme/other") != ours
    assert times("h H(0-7) * * *", "UTC", seed="a") != times("h H(0-7) * * *", "UTC", seed="b")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5_000, 5_000), min_size=1, max_size=60), st.booleans())
def test_what_was_asked_before_never_changes_an_answer(minutes: list[int], backward: bool) -> None:
    schedule = CronTimes(parse("*/7 1-3 * * *"), "America/New_York", fold=Fold.BOTH)
    for minute in minutes:
        moment = START + timedelta(days=7, minutes=minute)
        fresh = CronTimes(schedule.cron, schedule.timezone, fold=Fold.BOTH)
        if backward:
            assert schedule.previous(moment) == fresh.previous(moment)
        assert schedule.next(moment) == fresh.next(moment)
        assert schedule.previous(moment) == fresh.previous(moment)


def test_a_long_walk_keeps_a_bounded_number_of_times() -> None:
    schedule, moment = CronTimes(parse("* * * * *"), "UTC"), START
    for _ in range(10 * KNOWN_TIMES_MAX):
        found = schedule.next(moment)
        assert found == moment + timedelta(minutes=1)
        moment = found

    assert len(schedule._known.run) == KNOWN_TIMES_MAX


def test_a_look_into_the_far_future_does_not_spoil_the_present() -> None:
    schedule = CronTimes(parse("0 9 * * *"), "UTC")
    nine = datetime(2026, 3, 1, 9, tzinfo=UTC)

    for _ in range(3):
        assert schedule.next(START) == nine
        assert schedule.next(START + timedelta(days=3650)) == nine + timedelta(days=3650)
    assert schedule.next(nine) == nine + timedelta(days=1)


def test_threads_that_ask_at_once_get_the_same_answers() -> None:
    schedule = CronTimes(parse("*/5 * * * *"), "Europe/Berlin")
    expected = {START + timedelta(minutes=m): START + timedelta(minutes=m - m % 5 + 5) for m in range(2_000)}

    def ask(seed: int) -> bool:
        moments = list(expected)
        Random(seed).shuffle(moments)
        return all(schedule.next(moment) == expected[moment] for moment in islice(moments, 1_000))

    with ThreadPoolExecutor(max_workers=4) as pool:
        assert all(pool.map(ask, range(8)))


def test_schedules_are_values_whatever_they_have_found() -> None:
    asked, fresh = (CronTimes(parse("0 9 * * *"), "UTC") for _ in range(2))
    asked.next(START)

    assert asked == fresh
    assert hash(asked) == hash(fresh)
