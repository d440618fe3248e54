"""Apps on real databases: registration, runs in this process, and code without an event loop."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from gnomon import Gnomon, InvalidInput
from gnomon.app.connection import chosen_settings
from gnomon.app.processes.attached_apps import apps_of
from gnomon.app.processes.process import Role, alone, installed_handlers, running_engine, worker_options
from gnomon.client import Draft
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.jobs.job import Definition, JobStatus
from gnomon.errors import KindDisabled, StoreRefused, UnknownKind
from gnomon.settings import Settings
from tests.conftest import MakeDatabase
from tests.integration.app.shop import Order, Receipt, make_app

TODAY = date(2026, 1, 1)


async def test_what_is_declared_is_there_after_the_first_connect(database: str) -> None:
    async with make_app(database) as app:
        client = await app.connect()

        report = await client.jobs.named("daily_report")
        assert report.next_run_time is not None
        assert report.definition == app.jobs["daily_report"].definition
        assert (await client.jobs.named("charge")).tags == frozenset({"shop"})


async def test_the_same_code_again_writes_nothing_and_changed_code_makes_a_revision(database: str) -> None:
    async with make_app(database) as app:
        before = (await (await app.connect()).jobs.list()).items
    async with make_app(database) as app:
        assert (await (await app.connect()).jobs.list()).items == before

    changed = make_app(database)
    changed.jobs["add"].definition = replace(changed.jobs["add"].definition, priority=9)
    async with changed as app:
        after = {job.name: job for job in (await (await app.connect()).jobs.list()).items}
    assert after["add"].revision == 2
    assert {name: job.version for name, job in after.items() if name != "add"} == {
        job.name: 1 for job in before if job.name != "add"
    }


async def test_many_processes_that_start_at_once_do_not_fight(database: str) -> None:
    apps = [make_app(database) for _ in range(5)]

    async def start(app: Gnomon) -> None:
        await app.connect()

    async with make_app(database):  # The file is there: who makes it is another story.
        pass
    first = make_app(database)
    client = await first.connect()
    for job in (await client.jobs.list()).items:
        await client.jobs.delete(job.id)
    await asyncio.gather(*map(start, apps))

    jobs = (await client.jobs.list()).items
    assert sorted(job.name for job in jobs) == sorted(first.jobs)
    assert {job.version for job in jobs} == {1}
    for app in [first, *apps]:
        await app.close()


async def test_a_paused_job_stays_paused_when_code_changes_it(database: str) -> None:
    async with make_app(database) as app:
        client = await app.connect()
        await client.jobs.pause((await client.jobs.named("tidy")).id)

    changed = make_app(database)
    changed.jobs["tidy"].definition = replace(changed.jobs["tidy"].definition, priority=9)
    async with changed as app:
        tidy = await (await app.connect()).jobs.named("tidy")
    assert (tidy.status, tidy.revision) == (JobStatus.PAUSED, 2)


async def test_jobs_run_in_this_process(database: str) -> None:
    app = make_app(database)
    async with app.running(slots=4):
        runs = await app.jobs["charge"].enqueue_many({"order": Order(n, TODAY)} for n in range(3))
        assert [await run.result(timeout=20) for run in runs] == [
            Receipt(Order(n, TODAY), paid=True) for n in range(3)
        ]
        assert await (await app.jobs["from_a_thread"].enqueue(number=3)).result(timeout=20) == 5
        with pytest.raises(InvalidInput, match="await"):
            app.sync(app.jobs["add"].enqueue(a=1))


async def test_an_error_in_the_block_stays_what_it_was(tmp_path: Path) -> None:
    async def fail() -> None:
        async with make_app(f"sqlite://{tmp_path}/shop.db").running(slots=1):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()


def test_code_without_a_loop_uses_the_same_methods(tmp_path: Path) -> None:
    app = make_app(f"sqlite://{tmp_path}/shop.db")
    run = app.sync(app.jobs["add"].enqueue(a=1))

    assert app.sync(run.status()) is ExecutionStatus.QUEUED
    assert app.sync(run.cancel()) is ExecutionStatus.CANCELLED
    app.sync.close()
    assert app.sync(run.status()) is ExecutionStatus.CANCELLED
    app.sync.close()


async def test_a_server_without_our_schema_is_refused_with_what_to_do(fresh_database: MakeDatabase) -> None:
    with pytest.raises(StoreRefused, match="gnomon db migrate"):
        await make_app(await fresh_database()).connect()


def test_without_an_address_the_settings_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_DATABASE", f"sqlite://{tmp_path}/elsewhere.db")
    app = make_app()
    app.sync(app.connect())
    app.sync.close()
    assert (tmp_path / "elsewhere.db").exists()


async def test_a_worker_registers_the_apps_that_its_settings_name_and_they_use_its_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_app.py").write_text(
        "from tests.integration.app.shop import make_app\napp = make_app()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    chosen = chosen_settings(f"sqlite://{tmp_path}/shop.db")
    settings = replace(chosen, app=("named_app:app",))
    async with alone(settings), running_engine(settings, Role.WORKER) as engine:
        [app] = apps_of(settings.app)
        running = asyncio.create_task(engine.node.run())

        assert await (await app.jobs["fan_out"].enqueue(numbers=[1])).result(timeout=20) == 3
        assert await (await app.jobs["from_a_thread"].enqueue(number=1)).result(timeout=20) == 3
        assert (await engine.store.jobs.named(DEFAULT_TENANT, "tidy")).next_run_time is not None

        engine.node.drain()
        await running


async def test_an_app_whose_jobs_are_of_a_kind_that_is_off_is_refused_by_name(tmp_path: Path) -> None:
    chosen = chosen_settings(f"sqlite://{tmp_path}/shop.db")
    handlers = replace(chosen.handlers, enabled=frozenset({"http"}))
    async with alone(replace(chosen, handlers=handlers)):
        async with running_engine(replace(chosen, handlers=handlers), Role.WORKER) as engine:
            with pytest.raises(KindDisabled, match="'python' is off here") as refused:
                async with make_app().attached(engine):
                    pass
        assert "That is about the job" in refused.value.__notes__[0]
        (registered,) = await engine_kinds(replace(chosen, handlers=handlers))
        assert registered == {"http"}


async def engine_kinds(settings: Settings) -> list[frozenset[str]]:
    """What a worker with these settings registers and claims."""
    handlers = installed_handlers(settings)
    try:
        return [worker_options(settings, handlers).registration.kinds]
    finally:
        await handlers.aclose()


async def test_an_app_that_only_enqueues_knows_which_kinds_there_are(database: str) -> None:
    async with Gnomon(database) as app:
        client = await app.connect()
        with pytest.raises(UnknownKind, match=r"Did you mean `http`\?"):
            await client.jobs.create(Draft("x", Definition("htpp")))
        job = await client.jobs.create(Draft("x", Definition("elsewhere"), allow_unknown_kind=True))
        assert job.definition.kind == "elsewhere"


def test_a_fork_has_a_loop_of_its_own_for_code_without_one(tmp_path: Path) -> None:
    app = make_app(f"sqlite://{tmp_path}/shop.db")
    app.sync(app.connect())

    child = os.fork()
    if child == 0:
        signal.alarm(20)  # Else a child that hangs would outlive the test.
        try:
            app.sync(app.jobs["add"].enqueue(a=1))
            app.sync.close()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    app.sync.close()
