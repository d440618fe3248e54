"""HTTP calls and scripts that an app declares, run by real workers."""

from __future__ import annotations

import asyncio
import json

import pytest

from gnomon import Gnomon, InvalidInput, RunFailed
from tests.integration.handlers.servers import reply, serving

ADD = 'printf "%s" "$((GNOMON_PARAM_a + GNOMON_PARAM_b))" > "$GNOMON_RESULT"'


async def test_a_declared_script_runs_with_the_arguments_of_its_job_and_of_its_run(database: str) -> None:
    app = Gnomon(database)
    add = app.script_job("add", ADD, arguments={"a": 2, "b": 3}, retries=0)
    broken = app.script_job("broken", 'echo "$GNOMON_PARAM_missing"', retries=0)

    async with app.running():
        usual, other = await add.enqueue_many([{}, {"b": 40}])
        assert [await usual.result(timeout=60), await other.result(timeout=60)] == [5, 42]
        with pytest.raises(RunFailed) as failed:
            await (await broken.enqueue()).result(timeout=60)

    assert failed.value.kind == "exit_code"


async def test_a_declared_call_sends_its_json_with_the_arguments_on_top(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_HTTP_ALLOW", "127.0.0.2")
    async with serving(reply(200, b'{"paid": 7}', content_type="application/json")) as server:
        app = Gnomon(database)
        pay = app.http_job("pay", server.url("/pay"), json={"month": "2026-03", "all": True}, retries=0)
        async with app.running():
            result = await (await pay.enqueue(month="2026-04")).result(timeout=60)

    assert (result["status"], result["json"]) == (200, {"paid": 7})
    [seen] = server.seen
    assert (seen.method, json.loads(seen.body)) == ("POST", {"month": "2026-04", "all": True})


async def test_an_address_that_the_worker_may_not_call_fails_the_run_for_good(database: str) -> None:
    app = Gnomon(database)
    inside = app.http_job("inside", "http://127.0.0.2:9/", retries=5)

    async with app.running():
        with pytest.raises(RunFailed) as failed:
            await (await inside.enqueue()).result(timeout=60)

    assert failed.value.kind == "forbidden_address"


async def test_declared_calls_and_scripts_are_made_changed_and_left_alone_like_other_jobs(
    database: str,
) -> None:
    def make_app(script: str) -> Gnomon:
        app = Gnomon(database)
        app.script_job("tidy", script, cron="@daily")
        app.http_job("ping", "https://api.example.com", every=60)
        return app

    async with make_app("true") as app:
        client = await app.connect()
        ping = await client.jobs.named("ping")
        assert ping.next_run_time is not None
        assert ping.definition.payload == app.jobs["ping"].definition.payload
    async with make_app("true") as app:
        assert (await (await app.connect()).jobs.named("tidy")).version == 1
    async with make_app("false") as app:
        changed = await (await app.connect()).jobs.named("tidy")
        assert changed.revision == 2
        assert changed.definition.payload.value == {"interpreter": ["sh", "-eu"], "script": "false"}


async def test_a_schedule_with_other_arguments_is_a_job_of_its_own(database: str) -> None:
    app = Gnomon(database)
    add = app.script_job("add", ADD, arguments={"a": 2, "b": 3})

    async with app:
        first = await add.schedule(name="add more", cron="@hourly", b=5)
        assert (await add.schedule(name="add more", cron="@hourly", b=5)).version == first.version
        with pytest.raises(InvalidInput, match="cron"):
            await add.schedule(b=5)

    assert first.definition.payload.value == {
        "interpreter": ["sh", "-eu"],
        "script": ADD,
        "arguments": {"a": 2, "b": 5},
    }


async def test_declared_scripts_are_tasks_of_a_workflow(database: str) -> None:
    app = Gnomon(database)
    add = app.script_job("add", ADD, arguments={"a": 1}, retries=0)
    shell = app.script_job("shell", 'word="${HOME:+config}"; printf \'"%s"\' "$word" > "$GNOMON_RESULT"')

    ended: asyncio.Queue[tuple[list[int], str]] = asyncio.Queue()

    @app.job()
    async def total(sums: list[int], word: str) -> None:
        ended.put_nowait((sums, word))

    @app.dag
    def flow(numbers: list[int]) -> None:
        total(sums=add.task(over=numbers)(b="${item}"), word=shell())  # type: ignore[unused-coroutine]

    async with app.running():
        await flow.trigger(numbers=[1, 2, 3])
        async with asyncio.timeout(60):
            assert await ended.get() == ([2, 3, 4], "config")
