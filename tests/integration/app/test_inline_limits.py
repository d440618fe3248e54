"""What a test allows: which jobs fire, how many runs start, and what calls and scripts return."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gnomon import Context, Gnomon, InvalidInput, JobFailed, RunFailed
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.time.schedule import Interval
from gnomon.testing import ManualClock, inline

YEAR = timedelta(days=365)
START = datetime(2026, 1, 1, tzinfo=UTC)
URL = "https://api.example.com/v1"


@pytest.fixture
def fired() -> list[str]:
    return []


@pytest.fixture
def app(fired: list[str]) -> Gnomon:
    app = Gnomon("sqlite:///nowhere/at/all.db")

    @app.job(every=1)
    async def tick() -> None:
        fired.append("tick")

    @app.job(cron="0 9 1 * *")
    async def monthly() -> None:
        fired.append("monthly")
        await app.jobs["plain"].enqueue()

    @app.job()
    async def plain() -> None:
        fired.append("plain")

    @app.dag(every=60)
    def flow() -> None:
        plain()  # type: ignore[unused-coroutine]

    return app


async def test_a_year_passes_quickly_if_one_job_fires(app: Gnomon, fired: list[str]) -> None:
    async with inline(app, clock=ManualClock(START)) as run:
        await run.advance(YEAR, only=[app.jobs["monthly"]])

        assert fired == ["monthly", "plain"] * 12
        tick = await run.client.jobs.named("tick")
        timing = tick.definition.schedule.timing
        assert isinstance(timing, Interval)
        assert timing.every == timedelta(seconds=1)
        assert await run.client.jobs.occurrences(tick.id) == []


async def test_the_others_fire_again_afterwards_and_what_was_meanwhile_is_not_caught_up(
    app: Gnomon, fired: list[str]
) -> None:
    async with inline(app, clock=ManualClock(START)) as run:
        await run.advance(YEAR, only=[])
        assert fired == []

        await run.advance(60)
        assert sorted(fired) == ["plain"] + ["tick"] * 60


async def test_jobs_that_do_not_fire_can_be_enqueued_and_be_named_by_name(
    app: Gnomon, fired: list[str]
) -> None:
    @app.job()
    async def ask() -> None:
        await app.jobs["tick"].enqueue()

    async with inline(app, clock=ManualClock(START)) as run:
        await app.jobs["ask"].enqueue()
        await run.advance(120, only=["flow"])

    assert fired == ["tick", "plain", "plain"]


async def test_a_schedule_that_a_test_makes_is_held_too_and_one_that_it_changes_is_kept(app: Gnomon) -> None:
    async with inline(app, clock=ManualClock(START)) as run:
        await app.jobs["plain"].schedule(name="often", every=2)
        await run.advance(10, only=[])
        assert (await run.client.executions.list()).items == ()

        await run.advance(10, only=["often"])
        assert len((await run.client.executions.list()).items) == 5


async def test_a_stranger_is_refused_by_name(app: Gnomon) -> None:
    async with inline(app) as run:
        with pytest.raises(InvalidInput, match="no job is named 'weekly'"):
            await run.advance(1, only=["weekly"])
        with pytest.raises(InvalidInput, match="list of jobs"):
            await run.advance(1, only="tick")


async def test_too_many_runs_end_the_test_with_what_to_do(app: Gnomon, fired: list[str]) -> None:
    async with inline(app, clock=ManualClock(START)) as run:
        with pytest.raises(InvalidInput) as stopped:
            await run.advance(YEAR, limit=50)

    assert stopped.value.field == "limit"
    assert "more than 50 runs have started, and it is only 2026-01-01T00:00:51" in str(stopped.value)
    assert "51 of tick" in str(stopped.value)
    assert "only=[...]" in str(stopped.value)
    assert len(fired) == 51


async def test_a_job_that_enqueues_itself_for_ever_does_not_hang_a_test() -> None:
    app = Gnomon("sqlite:///nowhere/at/all.db")

    @app.job()
    async def again() -> None:
        await again.enqueue()

    async with inline(app) as run:
        await again.enqueue()
        with pytest.raises(InvalidInput, match="21 of again"):
            await run.drain(limit=20)
        with pytest.raises(InvalidInput, match="limit"):
            await run.drain(limit=0)


# Calls and scripts ------------------------------------------------------------------------------------


async def test_a_stub_says_what_a_call_or_a_script_returns() -> None:
    app = Gnomon("sqlite:///nowhere/at/all.db")
    pay = app.http_job("pay", URL, json={"month": "2026-03"})
    copy = app.script_job("copy", "cp a b", arguments={"a": 1}, retries=0)
    broken = app.http_job("broken", URL + "/broken", retries=0)
    asked: list[Mapping[str, Any]] = []

    async def answer(payload: Mapping[str, Any], context: Context) -> dict[str, Any]:
        asked.append(payload)
        return {"status": 200, "json": {"attempt": context.attempt}}

    stubs: dict[FixedJob | str, Any] = {
        pay: answer,
        copy: {"copied": 1},
        "broken": JobFailed("no", kind="http_status"),
    }
    async with inline(app, stubs=stubs):
        assert (await (await pay.enqueue(month="2026-04")).result())["json"] == {"attempt": 1}
        assert await (await copy.enqueue()).result() == {"copied": 1}
        with pytest.raises(RunFailed) as failed:
            await (await broken.enqueue()).result()

    assert asked == [{"url": URL, "json": {"month": "2026-04"}}]
    assert failed.value.kind == "http_status"


async def test_a_call_without_a_stub_is_not_made_and_says_so() -> None:
    app = Gnomon("sqlite:///nowhere/at/all.db")
    pay = app.http_job("pay", URL, retries=5)

    async with inline(app):
        with pytest.raises(RunFailed, match=r"stubs=\{'pay'") as failed:
            await (await pay.enqueue()).result()

    assert failed.value.kind == "no_stub"
    with pytest.raises(InvalidInput, match="'nobody' is no call or script of the app; there are pay"):
        async with inline(app, stubs={"nobody": 1}):
            pass


async def test_schedules_and_tasks_of_a_call_have_its_stub() -> None:
    app = Gnomon("sqlite:///nowhere/at/all.db")
    one = app.http_job("one", URL, json={"which": 1}, headers={"X": "${config.x}"})
    two = app.http_job("two", URL, json={"which": 2}, headers={"X": "${config.x}"})
    results: list[Any] = []

    @app.job()
    async def keep(result: Any) -> None:
        results.append(result)

    @app.dag
    def flow() -> None:
        keep(two(more=1))  # type: ignore[unused-coroutine]

    async with inline(app, clock=ManualClock(START), stubs={one: "one", two: "two"}) as run:
        await flow.trigger()
        job = await two.schedule(name="two often", every=60, more=2)
        await run.advance(60)
        [fired] = (await run.client.executions.list(job_id=job.id)).items

    assert results == ["two"]
    assert (fired.status, fired.result.value) == (ExecutionStatus.COMPLETED, "two")  # type: ignore[union-attr]
