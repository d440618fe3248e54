"""HTTP calls and scripts that are declared in Python, before any store is near."""

from __future__ import annotations

import inspect
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from gnomon import Gnomon, InvalidInput, RetryPolicy
from gnomon.app.jobs.declaration import JobOptions
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.core.time.schedule import CronTiming
from tests.house.tree import ROOT

URL = "https://api.example.com/v1/invoices"


@pytest.fixture
def app() -> Gnomon:
    return Gnomon("sqlite://:memory:")


def test_a_declared_call_becomes_a_definition_of_the_kind_http(app: Gnomon) -> None:
    app.http_job(
        "invoices",
        URL,
        method="post",
        headers={"Accept": "application/json"},
        json={"month": "2026-03"},
        expected_status=[200, "201-204"],
        cron="0 9 * * *",
        timezone="Europe/Berlin",
        retries=4,
        timeout=20,
        queue="slow",
        max_concurrent=1,
        tags=["money"],
    )

    job = app.jobs["invoices"]
    assert job.definition.kind == "http"
    assert job.definition.payload.value == {
        "url": URL,
        "method": "POST",
        "headers": {"Accept": "application/json"},
        "json": {"month": "2026-03"},
        "expected_status": [200, "201-204"],
        "timeout_seconds": 20,
    }
    assert job.definition.schedule.timing == CronTiming("0 9 * * *", "Europe/Berlin")
    assert job.definition.retry == RetryPolicy(max_attempts=5)
    assert (job.definition.timeout, job.definition.queue) == (timedelta(seconds=20), "slow")
    assert (job.definition.max_concurrent, job.tags) == (1, frozenset({"money"}))


def test_a_declared_script_becomes_a_definition_of_the_kind_script(app: Gnomon) -> None:
    shell = app.script_job("shell", "echo hello", arguments={"count": 3}, env={"LEVEL": "1"})
    python = app.script_job("python", "print(1)", interpreter="python3")
    tidy = app.script_job("tidy", command=("find", "/var/cache", "-delete"), every=3600)

    assert shell.definition.payload.value == {
        "interpreter": ["sh", "-eu"],
        "script": "echo hello",
        "env": {"LEVEL": "1"},
        "arguments": {"count": 3},
    }
    assert python.definition.payload.value == {"interpreter": ["python3"], "script": "print(1)"}
    assert tidy.definition.payload.value == {"argv": ["find", "/var/cache", "-delete"]}


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        ({"url": "nonsense"}, "url"),
        ({"url": URL, "method": "FETCH"}, "method"),
        ({"url": URL, "headers": {"Host": "elsewhere"}}, "headers.Host"),
        ({"url": URL, "headers": {"X": 1}}, "headers"),
        ({"url": URL, "body": "a", "json": {}}, "json"),
        ({"url": URL, "json": {1, "a"}.__iter__()}, "json"),
        ({"url": URL, "expected_status": ["9xx"]}, "expected_status"),
        ({"url": URL, "timeout": 4000}, "timeout"),
        ({"url": URL, "cron": "nonsense"}, "cron"),
        ({"url": URL, "priority": 12}, "priority"),
        ({"url": URL, "retries": -1}, "retries"),
    ],
)
def test_a_call_that_cannot_be_is_refused_where_it_is_written(
    app: Gnomon, declared: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        app.http_job("call", **declared)

    assert refused.value.field.startswith(field)
    assert refused.value.__notes__ == [f"That is about the job 'call' in {__name__!r}."]
    assert not app.jobs


@pytest.mark.parametrize(
    ("declared", "field"),
    [
        ({}, "script"),
        ({"script": "true", "command": ["true"]}, "script"),
        ({"command": "true --now"}, "command"),
        ({"command": []}, "command"),
        ({"command": ["true"], "interpreter": "sh"}, "interpreter"),
        ({"script": "#!/usr/bin/python3\nprint(1)"}, "interpreter"),
        ({"script": "true", "env": {"LD_PRELOAD": "x"}}, "env.LD_PRELOAD"),
        ({"script": "true\0"}, "script"),
        ({"script": "true", "arguments": {"x": object()}}, "arguments.x"),
        ({"script": "true", "every": 0}, "every"),
    ],
)
def test_a_script_that_cannot_be_is_refused_where_it_is_written(
    app: Gnomon, declared: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        app.script_job("run", **declared)

    assert refused.value.field.startswith(field)


def test_all_declared_jobs_of_an_app_have_names_of_their_own(app: Gnomon) -> None:
    app.script_job("one", "true")

    @app.dag(name="flow")
    def flow() -> None:
        app.jobs["one"]()  # type: ignore[operator]

    for name in ("one", "flow"):
        with pytest.raises(InvalidInput, match=name):
            app.http_job(name, URL)
        with pytest.raises(InvalidInput, match=name):
            app.job(name=name)(lambda: None)
    with pytest.raises(InvalidInput, match="one"):
        app.dag(name="one")(lambda: None)


def given(job: FixedJob, **arguments: Any) -> tuple[object, object]:
    """What would be enqueued: the input and the priority."""
    ask = job._plain._ask(arguments)(None)  # type: ignore[arg-type]
    return (ask.input.value if ask.input else None), ask.priority


def test_options_of_a_run_are_told_from_its_arguments(app: Gnomon) -> None:
    plain = app.script_job("plain", "true")
    own = app.script_job("own", "true", arguments={"priority": "low"})

    assert given(plain, size=3, priority=7) == ({"size": 3}, 7)
    assert given(own, size=3, priority="high") == ({"size": 3, "priority": "high"}, None)
    assert own.options(priority=7)._ask({"priority": "high"})(None).priority == 7  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "declared", [{"body": "as it is"}, {"method": "GET"}, {"json": [1, 2]}], ids=["body", "get", "list"]
)
def test_an_argument_that_would_be_dropped_is_refused(app: Gnomon, declared: dict[str, Any]) -> None:
    job = app.http_job("call", URL, **declared)

    assert given(job) == (None, None)
    with pytest.raises(InvalidInput, match=r"arguments\.month"):
        given(job, month="2026-03")


def test_arguments_of_a_schedule_go_over_those_of_the_job(app: Gnomon) -> None:
    call = app.http_job("call", URL, json={"month": "2026-03", "all": True})
    bare = app.http_job("bare", URL)

    assert call.payload({"month": "2026-04"}).value == {"url": URL, "json": {"month": "2026-04", "all": True}}
    assert bare.payload({"month": "2026-04"}).value == {"url": URL, "json": {"month": "2026-04"}}
    assert bare.payload({}).value == {"url": URL}


def test_a_call_in_a_workflow_is_a_task_and_its_text_stands_for_itself(app: Gnomon) -> None:
    @app.job()
    def count() -> int:
        return 1

    shell = app.script_job("shell", 'echo "${config}" ${HOME}', arguments={"size": 1}, timeout=5)
    post = app.http_job("post", URL, headers={"X": "a"})

    @app.dag
    def flow(month: str = "2026-03") -> None:
        found = shell(size=count())
        post.task(after=found, over=[1, 2])(number="${item}", month=month)

    _, first, second = flow.document["tasks"]
    assert first["payload"]["script"] == 'echo "$${config}" ${HOME}'
    assert first["payload"]["arguments"] == {"size": "${tasks.count.result}"}
    assert (first["kind"], first["timeout_seconds"], first["depends_on"]) == ("script", 5, ["count"])
    assert second["payload"] == {
        "url": URL,
        "headers": {"X": "a"},
        "json": {"number": "${item}", "month": "${config.month}"},
    }
    assert (second["kind"], second["depends_on"]) == ("http", ["shell"])


def test_what_can_not_be_called_says_what_to_do(app: Gnomon) -> None:
    call = app.http_job("call", URL)
    with pytest.raises(InvalidInput, match="enqueue"):
        call()
    with pytest.raises(InvalidInput, match="over=items"):
        call.map([1])

    def wrong() -> None:
        call.task(over=[1, 2])(number=3)

    with pytest.raises(InvalidInput, match="no argument is the item"):
        app.dag(wrong)


def test_every_option_of_a_function_but_the_isolation_is_one_of_a_call_and_of_a_script() -> None:
    options = inspect.signature(Gnomon.job).parameters.keys() - {"self", "name", "isolation"}

    assert options == get_type_hints(JobOptions).keys()


def test_a_program_that_declares_them_passes_strict_types(tmp_path: Path) -> None:
    good = """
from gnomon import Gnomon, RetryPolicy

app = Gnomon()
retry = RetryPolicy(max_attempts=5)
call = app.http_job("call", "https://example.com", json={"a": 1}, retry=retry, cron="@daily")
tidy = app.script_job("tidy", command=["true"], timeout=5, tags={"x"})


async def ask() -> None:
    run = await call.enqueue(a=2)
    await run.result(timeout=3)
    await tidy.schedule(every=60)
"""
    (tmp_path / "good.py").write_text(good, encoding="utf-8")
    (tmp_path / "bad.py").write_text(good.replace("timeout=5", "isolation='process'"), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            f"--cache-dir={tmp_path}",
            "good.py",
            "bad.py",
        ],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert {line.partition(":")[0] for line in done.stdout.splitlines()[:-1]} == {"bad.py"}, done.stdout
    assert "isolation" in done.stdout
