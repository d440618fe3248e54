"""The jobs of an app, travelled with from one date to another."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from gnomon import Context, Gnomon
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.errors import InvalidInput
from gnomon.testing import TimeTravel

START = datetime(2026, 3, 27, 12, tzinfo=UTC)


def the_app() -> Gnomon:
    app = Gnomon("sqlite://unused.db")

    @app.job(cron="30 2 * * *", timezone="Europe/Berlin")
    def nightly() -> str:
        return "done"

    @app.job(every=3600)
    async def hourly(context: Context) -> None:
        await asyncio.sleep(60)

    @app.job(every=7200, retries=2)
    def every_other_hour(context: Context) -> None:
        if context.attempt == 1:
            raise ValueError("not yet")

    return app


def test_three_days_pass_in_no_time_and_the_missing_hour_is_minded() -> None:
    journey = TimeTravel(the_app(), start=START).run(until=timedelta(days=3))
    berlin = ZoneInfo("Europe/Berlin")
    fired = [
        call.nominal_time.astimezone(berlin) for call in journey.calls_of("nightly") if call.nominal_time
    ]
    assert [(at.day, at.hour, at.minute) for at in fired] == [(28, 2, 30), (29, 3, 0), (30, 2, 30)]
    assert {run.status for run in journey.runs_of("nightly")} == {ExecutionStatus.COMPLETED}
    assert len(journey.runs_of("hourly")) == 71  # The first is an hour after the app made it.


def test_a_run_that_fails_is_called_again() -> None:
    journey = TimeTravel(the_app(), start=START).run(until=timedelta(hours=9))
    assert [call.attempt for call in journey.calls_of("every_other_hour")] == [1, 2] * 4
    assert {run.status for run in journey.runs_of("every_other_hour")} == {ExecutionStatus.COMPLETED}


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_crash_interrupts_is_called_again(when: str) -> None:
    trip = TimeTravel(the_app(), start=START).crash_worker(at_call=1, when=when)  # type: ignore[arg-type]
    journey = trip.run(until=timedelta(hours=2))
    first, *_ = journey.runs
    again = [call for call in journey.calls if call.execution_id == first.id]
    assert [call.attempt for call in again] == [1, 2]
    assert timedelta(seconds=15) < again[1].at - again[0].at < timedelta(seconds=100)
    assert first.status is ExecutionStatus.COMPLETED


def test_what_comes_due_while_the_store_is_away_is_late_and_not_lost() -> None:
    trip = TimeTravel(the_app(), start=START).drop_store(at=START + timedelta(hours=1, seconds=-5), lasts=30)
    journey = trip.run(until=timedelta(hours=3, minutes=30))
    first = journey.calls_of("hourly")[0]
    assert first.nominal_time is not None
    assert timedelta(seconds=20) < first.at - first.nominal_time < timedelta(seconds=40)
    assert len(journey.runs_of("hourly")) == 3


def test_the_same_seed_makes_the_same_journey() -> None:
    def travelled(seed: int) -> list[datetime]:
        journey = TimeTravel(the_app(), start=START, seed=seed).run(until=timedelta(hours=6))
        return [call.at for call in journey.calls]

    assert travelled(1) == travelled(1) != travelled(2)


async def test_what_cannot_be_travelled_is_refused() -> None:
    trip = TimeTravel(the_app(), start=START)
    with pytest.raises(InvalidInput, match="to_thread"):
        trip.run(until=timedelta(hours=1))
    with pytest.raises(InvalidInput, match="after the start"):
        trip.drop_store(at=START)
    with pytest.raises(InvalidInput, match="time zone"):
        TimeTravel(the_app(), start=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point.
    with pytest.raises(InvalidInput, match="from 1"):
        trip.crash_worker(at_call=0)
    journey = await asyncio.to_thread(trip.run, until=timedelta(hours=1, minutes=5))
    assert len(journey.calls_of("hourly")) == 1


def test_months_pass_quickly_if_one_job_fires() -> None:
    app = the_app()

    @app.job(every=1)
    async def tick() -> None: ...

    @app.dag(every=60)
    def flow() -> None:
        tick()  # type: ignore[unused-coroutine]

    trip = TimeTravel(app, start=START, only=[app.jobs["nightly"]])
    journey = trip.run(until=timedelta(days=60))
    assert [call.job for call in journey.calls] == ["nightly"] * 60


def test_workflows_run_on_a_journey() -> None:
    app = Gnomon("sqlite://unused.db")

    @app.job()
    async def first() -> int:
        return 1

    @app.job()
    async def second(number: int) -> int:
        return number + 1

    @app.dag(every=60)
    def flow() -> None:
        second(first())  # type: ignore[arg-type, unused-coroutine]

    journey = TimeTravel(app, start=START).run(until=timedelta(minutes=2, seconds=30))
    assert [call.job for call in journey.calls] == ["first", "second"] * 2
    assert {run.status for run in journey.runs} == {ExecutionStatus.COMPLETED}


def test_too_many_calls_end_a_journey_with_what_to_do() -> None:
    app = the_app()

    @app.job(every=1)
    async def tick() -> None: ...

    with pytest.raises(InvalidInput, match=r"more than 60 runs have started.* 61 of tick.*only=\[\.\.\.\]"):
        TimeTravel(app, start=START, limit=60).run(until=timedelta(days=365))
    with pytest.raises(InvalidInput, match="no job is named"):
        TimeTravel(app, start=START, only=["weekly"])


def test_a_stub_is_called_on_a_journey_and_a_crash_calls_it_again() -> None:
    app = Gnomon("sqlite://unused.db")
    pay = app.http_job("pay", "https://api.example.com", every=3600, json={"month": 1})
    paid: list[object] = []

    def answer(payload: object, context: Context) -> dict[str, int]:
        paid.append(context.execution_id)
        return {"status": 200}

    trip = TimeTravel(app, start=START, stubs={pay: answer}).crash_worker(at_call=1)
    journey = trip.run(until=timedelta(hours=2, minutes=5))
    assert [call.attempt for call in journey.calls_of("pay")] == [1, 2, 1]
    assert len(paid) == 3 > len(set(paid))
    assert {run.status for run in journey.runs_of("pay")} == {ExecutionStatus.COMPLETED}
