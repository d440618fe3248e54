"""An app under test: everything in memory, at the time that the test says."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gnomon import Gnomon, InvalidInput, RunFailed, RunNotEnded
from gnomon.app.jobs.job_function import JobFunction
from gnomon.app.registration import registered
from gnomon.client import Draft
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import JobStatus
from gnomon.errors import JobNotFound
from gnomon.testing import ManualClock, inline
from tests.integration.app.shop import Order, Receipt, make_app

TODAY = date(2026, 1, 1)
OTHER_MODES = pytest.mark.thorough("The fixtures for pytest work in its strict mode and with anyio, too")


@pytest.fixture
def app() -> Gnomon:
    return make_app("sqlite:///nowhere/at/all.db")  # Inline, nobody looks there.


def job(app: Gnomon, name: str) -> JobFunction[Any, Any, Any]:
    found = app.jobs[name]
    assert isinstance(found, JobFunction)
    return found


async def test_a_result_comes_back_as_its_type(app: Gnomon) -> None:
    async with inline(app):
        run = await job(app, "charge").enqueue(order=Order(7, TODAY))

        assert await run.status() is ExecutionStatus.QUEUED
        assert await run.result() == Receipt(Order(7, TODAY), paid=True)
        assert [line.message for line in await run.logs()] == ["charging 7"]


async def test_the_example_of_the_design_works_as_it_stands(app: Gnomon) -> None:
    async with inline(app) as run:
        report = await job(app, "daily_report").enqueue(day=TODAY, priority=7)

        assert (await report.execution()).priority == 7
        assert (await report.result())["day"] == "2026-01-01"
        await run.advance(timedelta(days=2))
        declared = await run.client.jobs.named("daily_report")
        found = (await run.client.executions.list(job_id=declared.id)).items
        fired = [one.result.value for one in found if one.result and one.trigger == "schedule"]
        assert fired == [
            {"day": "2026-01-02", "for": "2026-01-02 14:00:00+00:00"},
            {"day": "2026-01-01", "for": "2026-01-01 14:00:00+00:00"},
        ]


async def test_a_failure_is_tried_again_in_its_time_and_then_raised(app: Gnomon) -> None:
    async with inline(app) as run:
        charge = await job(app, "charge").enqueue(order=Order(-1, TODAY))
        with pytest.raises(RunNotEnded) as not_yet:
            await charge.result()
        assert isinstance(not_yet.value, TimeoutError)

        await run.advance(timedelta(seconds=60))

        with pytest.raises(RunFailed) as failed:
            await charge.result()
        assert (failed.value.kind, failed.value.message) == ("unknown_order", "no such order")
        assert len(await run.client.executions.attempts(charge.id)) == 2


async def test_everything_on_the_way_happens_at_its_own_time(app: Gnomon) -> None:
    async with inline(app, clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC))) as run:
        await run.advance(timedelta(hours=1))

        tidy = await run.client.jobs.named("tidy")
        rows = await run.client.jobs.occurrences(tidy.id)
        assert len(rows) == 6
        assert all(row.reason is None for row in rows)
        assert run.clock.now() == datetime(2026, 1, 1, 1, tzinfo=UTC)


async def test_a_snooze_and_a_delay_wait_for_the_clock(app: Gnomon) -> None:
    async with inline(app) as run:
        patient = await job(app, "patient").enqueue()
        later = await job(app, "add").options(delay=90).enqueue(a=1)
        await run.drain()
        assert await later.status() is ExecutionStatus.PENDING

        await run.advance(120)

        assert await patient.result() == 3
        assert await later.result() == 3


async def test_a_job_may_wait_for_others_if_there_is_room_for_them(app: Gnomon) -> None:
    async with inline(app, slots=2):
        assert await (await job(app, "fan_out").enqueue(numbers=[1, 2])).result() == 7
        assert await (await job(app, "from_a_thread").enqueue(number=5)).result() == 7


async def test_a_cancelled_run_has_no_result(app: Gnomon) -> None:
    async with inline(app):
        run = await job(app, "add").enqueue(a=1)
        assert await run.cancel() is ExecutionStatus.CANCELLED

        with pytest.raises(RunFailed, match="CANCELLED"):
            await run.result()


async def test_the_same_schedule_again_is_the_same_job_and_another_changes_it(app: Gnomon) -> None:
    async with inline(app) as run:
        add = job(app, "add")
        first = await add.schedule(name="nightly", cron="0 3 * * *", a=1)
        assert await add.schedule(name="nightly", cron="0 3 * * *", a=1) == first
        changed = await add.schedule(name="nightly", cron="0 4 * * *", a=2)
        assert (changed.id, changed.revision) == (first.id, 2)
        unnamed = await add.schedule(every=60, a=40)
        assert await add.schedule(every=60, a=40) == unnamed

        await run.advance(60)
        [ran] = (await run.client.executions.list(job_id=unnamed.id)).items
        assert ran.result is not None
        assert ran.result.value == 42

        with pytest.raises(InvalidInput, match=r"arguments\.a"):
            await add.schedule(every=60)
        with pytest.raises(InvalidInput, match="when"):
            await add.schedule(a=1)
        with pytest.raises(InvalidInput, match="priority"):
            await add.options(priority=3).schedule(every=60, a=1)


async def test_a_job_that_was_deleted_and_made_again_is_found_again(app: Gnomon) -> None:
    async with inline(app) as run:
        await job(app, "add").enqueue(a=1)
        old = await run.client.jobs.named("add")
        await run.client.jobs.delete(old.id)
        await run.client.jobs.create(Draft("add", old.definition))

        again = await job(app, "add").enqueue(a=1)
        assert await again.result() == 3


async def test_a_job_that_was_deleted_is_not_made_again_behind_the_back_of_who_did_it(app: Gnomon) -> None:
    async with inline(app) as run:
        await run.client.jobs.delete((await run.client.jobs.named("add")).id)

        for _ in range(2):
            with pytest.raises(JobNotFound):
                await job(app, "add").enqueue(a=1)


async def test_code_does_not_overrule_a_person_who_cancelled_a_job(app: Gnomon) -> None:
    async with inline(app) as run:
        tidy = await run.client.jobs.named("tidy")
        await run.client.jobs.cancel(tidy.id)

        again = await registered(run.client, app.jobs["tidy"].draft())
        assert again.status is JobStatus.CANCELLED


async def test_a_transaction_of_the_code_under_test_is_no_matter(app: Gnomon) -> None:
    async with inline(app):
        run = await job(app, "add").enqueue_in(object(), a=1)
        assert await run.result() == 3


async def test_apps_are_apart_and_the_own_database_is_back_afterwards(app: Gnomon) -> None:
    async with inline(app) as outer:
        await job(app, "add").enqueue(a=1)
        async with inline(app) as inner:
            assert (await inner.client.executions.list()).items == ()
        assert len((await outer.client.executions.list()).items) == 1
    assert app._in_charge is None


def test_pytest_has_the_fixtures(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    (tmp_path / "my_app.py").write_text("from tests.integration.app.shop import make_app\napp = make_app()\n")
    (tmp_path / "test_mine.py").write_text(
        dedent("""
        import sys

        def test_other_tests_pay_nothing():
            assert not {"asyncpg", "msgspec", "gnomon.app"} & set(sys.modules)

        async def test_jobs(gnomon_inline, gnomon_app):
            async with gnomon_inline() as run:
                assert await (await gnomon_app.jobs["add"].enqueue(a=1)).result() == 3
        """)
    )
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\nasyncio_mode = auto\ngnomon_app = my_app:app\npythonpath = . {root}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("mode", "mark", "passes"),
    [
        ("asyncio_mode = auto", "", True),
        pytest.param("", "@pytest.mark.asyncio", True, marks=OTHER_MODES),
        pytest.param("", "@pytest.mark.anyio", True, marks=OTHER_MODES),
        pytest.param("", "", False, marks=OTHER_MODES),
    ],
    ids=["auto", "strict-marked", "anyio", "strict-unmarked"],
)
def test_the_fixture_works_in_every_mode_in_which_async_tests_do(
    tmp_path: Path, mode: str, mark: str, passes: bool
) -> None:
    root = Path(__file__).parents[3]
    (tmp_path / "my_app.py").write_text("from tests.integration.app.shop import make_app\napp = make_app()\n")
    (tmp_path / "test_mine.py").write_text(
        dedent(f"""
        import pytest

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        {mark}
        async def test_jobs(gnomon_inline, gnomon_app):
            async with gnomon_inline() as run:
                assert await (await gnomon_app.jobs["add"].enqueue(a=1)).result() == 3
        """)
    )
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\n{mode}\ngnomon_app = my_app:app\npythonpath = . {root}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "1 passed" if passes else "async def functions are not natively supported"
    assert expected in done.stdout, done.stdout + done.stderr
