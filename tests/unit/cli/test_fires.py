"""The fires of a plan: those that come and those that go, as far as both schedules are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gnomon.cli.files.fires import FIRES_LOOKED_AT, FIRES_SHOWN, Fires, _read, come_and_go

START = datetime(2030, 1, 7, 9, tzinfo=UTC)  # A Monday.


def times(*, days: int, count: int, hour: int = 9) -> list[str]:
    first = START.replace(hour=hour)
    return [f"{first + timedelta(days=days * number):%Y-%m-%dT%H:%M:%SZ}" for number in range(count)]


def test_a_daily_schedule_that_becomes_weekly_shows_what_comes_and_what_goes() -> None:
    daily, weekly = times(days=1, count=50), times(days=7, count=50, hour=10)
    added, removed = come_and_go(Fires(daily, daily[-1]), Fires(weekly, weekly[-1]))
    assert added == weekly[:FIRES_SHOWN]
    assert removed == daily[:FIRES_SHOWN]


def test_a_schedule_that_ends_goes_as_far_as_the_other_is_known() -> None:
    daily = times(days=1, count=50)
    assert come_and_go(Fires(daily, daily[-1]), Fires(daily[:2])) == ([], daily[2:7])
    assert come_and_go(Fires(), Fires(daily[:2])) == (daily[:2], [])


def test_excluded_dates_do_not_make_the_rest_look_complete() -> None:
    daily = times(days=1, count=FIRES_LOOKED_AT)
    answer = [{"nominal_time": at, "local_time": at, "skip": None} for at in daily]
    answer[1]["skip"] = "calendar"
    before = _read(answer)
    assert before == Fires([daily[0], *daily[2:]], daily[-1])
    longer = Fires([*daily, *times(days=1, count=60)[50:]], "2031-01-01T00:00:00Z")
    assert come_and_go(before, longer) == ([daily[1]], [])
    assert _read(answer, closed={daily[0][:10]}).times[0] == daily[2]
    assert _read(answer[:3]).known_until is None
