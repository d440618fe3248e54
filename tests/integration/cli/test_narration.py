"""What a worker says about its work."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gnomon.cli.output.narration import LINES_MAX, WINDOW, Nameless, Narrator, narrated
from gnomon.client import Client
from gnomon.client.context import ClientContext
from gnomon.client.workflows.places import TaskLookup
from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import JobFilter, Page
from gnomon.core.jobs.job import Definition, Job, JobId
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import JSON
from gnomon.engine.telemetry import What
from gnomon.errors import StoreUnavailable
from gnomon.handlers.base import Context, NotHere
from tests.integration.engine.rig import Rig, open_rig

LOGGER = "gnomon.runs"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with open_rig() as opened:
        yield opened


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """What was said, and about which job."""
    said = [record for record in caplog.records if record.name == LOGGER]
    return [(record.getMessage(), getattr(record, "job", "")) for record in said]


async def test_lines_name_the_job(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    ada = rig.worker(done)
    async with narrated(ada.telemetry, rig.store.jobs, rig.clock):
        job = await rig.job(Definition(kind="test"), name="mails")  # Nobody has told its name yet.
        await rig.enqueue(job)
        await ada.work()

    assert lines(caplog) == [("started", "mails"), ("completed", "mails")]


async def test_lines_about_a_task_of_a_workflow_name_the_task(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    async def speaks(context: Context) -> JSON:
        logging.getLogger("shop").info("hello")
        return None

    ada = rig.worker(speaks)
    tasks: list[JSON] = [{"name": "load", "kind": "test"}]
    async with narrated(ada.telemetry, rig.store.jobs, rig.clock, tasks=TaskLookup(rig.store)):
        client = Client(ClientContext(rig.store, rig.clock, rig.ids))
        dag = await client.dags.create({"name": "flow", "tasks": tasks})
        await client.dags.trigger(dag.job.id)
        await ada.work()

    assert lines(caplog) == [("started", "flow"), ("completed", "flow")]
    told = [record for record in caplog.records if record.name == LOGGER]
    assert [getattr(record, "task", None) for record in told] == ["load", "load"]


async def test_a_store_that_is_away_at_the_start_costs_no_more_than_time(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    class AwayAtTheStart(Nameless):
        async def get(self, tenant_id: TenantId, job_id: JobId) -> Job:
            return await rig.store.jobs.get(tenant_id, job_id)

        async def page(self, tenant_id: TenantId, wanted: JobFilter, *, limit: int) -> Page[Job]:
            raise StoreUnavailable("away")

    ada = rig.worker(done)
    job = await rig.job(Definition(kind="test"), name="mails")
    async with narrated(ada.telemetry, AwayAtTheStart(), rig.clock):
        await rig.enqueue(job)
        await ada.work()

    assert lines(caplog) == [("started", "mails"), ("completed", "mails")]


async def test_a_failure_is_a_warning_and_the_last_one_an_error(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(context: Context) -> JSON:
        context.fail("no such file")

    ada = rig.worker(fails)
    job = await rig.job(Definition(kind="test", retry=RetryPolicy(max_attempts=2, jitter=0)), name="import")
    async with narrated(ada.telemetry, rig.store.jobs, rig.clock):
        await rig.enqueue(job)
        await ada.work()
        rig.clock.advance(timedelta(hours=1))
        await ada.work()

    told = {record.getMessage(): record for record in caplog.records if record.name == LOGGER}
    assert told["retried"].levelno == logging.WARNING
    assert told["failed"].levelno == logging.ERROR
    assert vars(told["failed"])["error"] == "failed: no such file"
    assert vars(told["failed"])["attempt"] == 2


async def test_what_is_too_much_to_say_is_counted(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    job = await rig.job(Definition(kind="test"), name="mails")
    async with narrated(rig.telemetry, rig.store.jobs, rig.clock):
        for _ in range(LINES_MAX + 7):
            rig.telemetry.tell_of_job(What.FIRED, job.tenant_id, job.id, at=rig.clock.now())

    assert lines(caplog) == [("fired", "mails")] * LINES_MAX + [("more, not told one by one", "")]
    assert vars(caplog.records[-1])["fired"] == 7


async def test_a_new_window_is_told_one_by_one_again(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    job = await rig.job(Definition(kind="test"), name="mails")
    narrator = Narrator(rig.store.jobs, rig.clock)
    rig.telemetry.listeners.append(narrator.hear)
    await narrator.learn()

    for _ in range(2):
        for _ in range(LINES_MAX + 1):
            rig.telemetry.tell_of_job(What.FIRED, job.tenant_id, job.id, at=rig.clock.now())
        rig.clock.advance(WINDOW)
        await narrator.step()

    assert len(lines(caplog)) == 2 * (LINES_MAX + 1)


async def test_a_line_of_user_code_says_whose_it_is(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    async def speaks(context: Context) -> JSON:
        logging.getLogger("shop").info("hello")
        return None

    ada = rig.worker(speaks)
    job = await rig.job(Definition(kind="test"), name="mails")
    async with narrated(ada.telemetry, rig.store.jobs, rig.clock):
        run = await rig.enqueue(job)
        await ada.work()

    [hello] = [record for record in caplog.records if record.name == "shop"]
    assert vars(hello)["job"] == "mails"
    assert vars(hello)["execution"] == str(run)


async def test_what_raised_is_kept_with_the_run_from_its_own_code_on(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    async def divides(context: Context) -> JSON:
        return 1 // 0

    ada = rig.worker(divides)
    await rig.enqueue(await rig.job(Definition(kind="test")))
    await ada.work()

    [record] = [record for record in caplog.records if record.name == "gnomon.job"]
    assert record.exc_text or record.exc_info
    text = logging.Formatter().format(record)
    assert "1 // 0" in text
    assert "gnomon/engine" not in text


async def done(context: Context) -> JSON:
    return "done"


async def test_a_function_that_is_not_here_is_told(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    async def is_elsewhere(context: Context) -> JSON:
        raise NotHere("No function named 'mail' is registered on this worker.")

    ada = rig.worker(is_elsewhere)
    await rig.enqueue(await rig.job(Definition(kind="test")))
    await ada.work()

    [line] = [record.getMessage() for record in caplog.records if record.name == "gnomon.job"]
    assert line.startswith("No function named 'mail'")
