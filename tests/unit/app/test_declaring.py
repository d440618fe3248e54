"""What a decorator makes of a function, before any store is near."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from gnomon import Context, Gnomon, InvalidInput, RetryPolicy, Schedule
from gnomon.app.jobs.job_function import JobFunction
from gnomon.core.jobs.job import Delivery
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap
from gnomon.handlers.python.functions import Isolation


@dataclass
class Size:
    width: int
    height: int = 1


@dataclass
class Weight:
    grams: int


@pytest.fixture
def app() -> Gnomon:
    return Gnomon("sqlite://:memory:")


def test_a_function_stays_what_it_was(app: Gnomon) -> None:
    @app.job()
    def double(number: int) -> int:
        """Twice as much."""
        return 2 * number

    @app.job()
    async def halve(number: int) -> int:
        return number // 2

    assert double(4) == 8
    assert asyncio.run(halve(4)) == 2
    assert (getattr(double, "__name__", ""), double.__doc__) == ("double", "Twice as much.")


def test_the_options_of_the_decorator_become_the_definition_of_the_job(app: Gnomon) -> None:
    @app.job(
        name="report",
        cron="0 9 * * *",
        timezone="America/New_York",
        misfire="fire_all",
        overlap="skip",
        retries=3,
        timeout=90,
        queue="slow",
        capabilities=["gpu"],
        priority=7,
        max_concurrent=2,
        delivery="at_most_once",
        tags=["daily"],
    )
    def daily_report() -> None: ...

    definition = app.jobs["report"].definition
    assert definition.schedule == Schedule(
        CronTiming("0 9 * * *", "America/New_York"), misfire=Misfire.FIRE_ALL, overlap=Overlap.SKIP
    )
    assert definition.retry == RetryPolicy(max_attempts=4)
    assert (definition.timeout, definition.queue, definition.priority) == (timedelta(seconds=90), "slow", 7)
    assert (definition.capabilities, definition.max_concurrent) == (frozenset({"gpu"}), 2)
    assert definition.delivery is Delivery.AT_MOST_ONCE
    assert definition.payload.value == {"function": "report"}
    assert app.jobs["report"].tags == frozenset({"daily"})


def test_a_number_is_seconds(app: Gnomon) -> None:
    app.job(name="a", every=1.5)(lambda: None)
    app.job(name="b", every=timedelta(seconds=1.5))(lambda: None)

    assert app.jobs["a"].definition.schedule.timing == Interval(timedelta(seconds=1.5))
    assert app.jobs["b"].definition.schedule == app.jobs["a"].definition.schedule


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"cron": "nonsense"}, "cron"),
        ({"cron": "* * * * *", "every": 5}, "every"),
        ({"timezone": "UTC"}, "timezone"),
        ({"every": True}, "every"),
        ({"retries": -1}, "retries"),
        ({"retries": 1, "retry": RetryPolicy()}, "retries"),
        ({"priority": 12}, "priority"),
        ({"overlap": "maybe"}, "overlap"),
        ({"misfire": "maybe"}, "misfire"),
        ({"delivery": "maybe"}, "delivery"),
        ({"isolation": "maybe"}, "isolation"),
        ({"name": " "}, "kind|name|payload"),
    ],
)
def test_an_option_that_cannot_be_is_refused_where_it_is_written(
    app: Gnomon, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput, match=field):
        app.job(**options)(lambda: None)


def test_two_jobs_of_one_app_have_two_names(app: Gnomon) -> None:
    app.job(name="one")(lambda: None)
    with pytest.raises(InvalidInput, match="one"):
        app.job(name="one")(lambda: None)


def test_a_result_that_json_cannot_bring_back_is_refused(app: Gnomon) -> None:
    def draw() -> Size | Weight:  # Which of them was it? Their JSON does not say.
        raise NotImplementedError

    with pytest.raises(InvalidInput, match="returns"):
        app.job()(draw)


def test_a_function_of_its_own_process_is_found_through_its_module(app: Gnomon) -> None:
    module = sys.modules[__name__]
    vars(module)["this_app"] = app
    try:
        app.job(name="apart", isolation="process")(_apart)
    finally:
        del vars(module)["this_app"]

    assert app.functions.home == f"{__name__}:this_app"
    assert app.functions["apart"].isolation is Isolation.PROCESS
    with pytest.raises(InvalidInput, match="child process"):
        Gnomon().job(name="apart", isolation="process")(_apart)


def _apart() -> None: ...


# Arguments ------------------------------------------------------------------------------------------


def given(job: JobFunction[Any, Any, Any], **arguments: Any) -> tuple[object, object]:
    """What would be enqueued: the input and the priority."""
    ask = job._plain._ask(arguments)(None)  # type: ignore[arg-type]
    return (ask.input.value if ask.input else None), ask.priority


def test_arguments_are_written_as_json_by_their_types(app: Gnomon) -> None:
    @app.job()
    def make(day: date, size: Size, names: set[str], context: Context) -> None: ...

    assert given(make, day=date(2026, 1, 2), size=Size(3), names={"a"}, priority=7) == (
        {"day": "2026-01-02", "size": {"width": 3, "height": 1}, "names": ["a"]},
        7,
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"day": 5}, "arguments.day"),
        ({}, "arguments.day"),
        ({"day": date(2026, 1, 1), "dya": 1}, "arguments.dya"),
        ({"day": object()}, "arguments.day"),
        ({"day": date(2026, 1, 1), "context": 1}, "arguments.context"),
        ({"day": date(2026, 1, 1), "ratio": float("nan")}, "arguments.ratio"),
        ({"day": date(2026, 1, 1), "delay": -1}, "delay"),
        ({"day": date(2026, 1, 1), "priority": 12}, "priority"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(app: Gnomon, arguments: dict[str, Any], named: str) -> None:
    @app.job()
    def report(day: date, context: Context, ratio: float = 1.0) -> None: ...

    def ask() -> None:
        asked = report._plain._ask(arguments)(None)  # type: ignore[arg-type]
        asked.as_new(None, now=datetime(2026, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]

    with pytest.raises(InvalidInput) as refused:
        ask()
    assert refused.value.field == named


def test_the_names_of_the_function_come_before_the_names_of_options(app: Gnomon) -> None:
    @app.job()
    def vote(priority: str) -> None: ...

    assert given(vote, priority="high") == ({"priority": "high"}, None)
    ask = vote.options(priority=3)._ask({"priority": "high"})(None)  # type: ignore[arg-type]
    assert (ask.input and ask.input.value, ask.priority) == ({"priority": "high"}, 3)


def test_a_function_that_takes_anything_gets_everything(app: Gnomon) -> None:
    @app.job()
    def collect(**more: int) -> None: ...

    assert given(collect, priority=3, delay=4) == ({"priority": 3, "delay": 4}, None)


def test_an_option_that_does_not_exist_is_refused(app: Gnomon) -> None:
    @app.job()
    def report() -> None: ...

    with pytest.raises(InvalidInput, match="prioriti"):
        report.options(prioriti=3)
    with pytest.raises(InvalidInput, match="cron"):
        report.options(cron="* * * * *")._ask({})


def test_a_schedule_cannot_give_what_only_a_caller_knows(app: Gnomon) -> None:
    with pytest.raises(InvalidInput, match=r"arguments\.customer"):

        @app.job(cron="0 9 * * *")
        def report(day: date, customer: str) -> None: ...


# Importing ------------------------------------------------------------------------------------------


def run_python(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_importing_gnomon_brings_nothing_heavy_in() -> None:
    heavy = ("asyncpg", "msgspec", "asyncio", "sqlite3", "gnomon.app", "gnomon.core")
    run_python(f"import sys, gnomon, gnomon.testing; assert not set({heavy}) & set(sys.modules)")


def test_all_that_is_offered_is_there() -> None:
    run_python("import gnomon; [getattr(gnomon, name) for name in gnomon._HOMES]")
    run_python("from gnomon.testing import Inline, ManualClock, inline; assert callable(inline)")
    with pytest.raises(ImportError):
        from gnomon import Nonsense  # noqa: F401
