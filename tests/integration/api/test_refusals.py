"""What a refusal says: the caller's own words for the place, what is known there, and no words of Python."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from gnomon.api.application import ROUTES
from gnomon.api.forms import ids
from tests.integration.api.conftest import Office, problem

RAW = {"Content-Type": "application/json"}
FORGED = [b"", b"x", b"\xff" * 16, b"\xff" * 4, b"\x7f" * 17, b"\0", b"\xff\xfe", b"a\0b", b"0" * 300,
          b"9999-99-99T00:00:00Z", b"0001-01-01T00:00:00+23:59", b"99999999999", b"-1"]  # fmt: skip


async def details(office: Office, path: str, form: Any) -> dict[str, Any]:
    answer = await office.http.post(path, json=form)
    assert answer.status_code == 400, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert error["message"].startswith(error["details"]["field"])
    found: dict[str, Any] = error["details"]
    return found


@pytest.mark.parametrize("position", FORGED)
async def test_a_forged_cursor_is_refused_by_every_list(
    office: Office, monkeypatch: pytest.MonkeyPatch, position: bytes
) -> None:
    """The mark of a cursor is no secret. What is behind it can be anything."""
    job = (await office.job())["job_id"]
    task = {"name": "a", "kind": "report"}
    dag = (await office.http.post("/v1/dags", json={"name": "dag", "tasks": [task]})).json()["dag_id"]
    monkeypatch.setattr(ids, "compare_digest", lambda *_: True)
    cursor = urlsafe_b64encode(b"12345678" + position).decode()
    lists = [one for one in ROUTES if "cursor" in one.fn.__annotations__]
    assert len(lists) >= 9
    texts = [f"/v1/jobs/{job}/occurrences", f"/v1/dags/{dag}/revisions"]
    for route in lists:
        path = min(route.paths).replace("{job_id:str}", job).replace("{dag_id:str}", dag)
        answer = await office.http.get(path, params={"cursor": cursor})
        if answer.status_code == 200:  # By chance, it is a position that this list can have.
            assert len(position) == 16 or path in ("/v1/workers", "/v1/calendars", *texts), (path, position)
            continue
        assert problem(answer) == (400, "INVALID_INPUT"), path
        assert answer.json()["error"]["details"]["field"] == "cursor"


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs/batch", "/v1/dags", "/v1/schedules/preview"])
async def test_a_missing_body_is_called_so(office: Office, path: str) -> None:
    answer = await office.http.post(path, headers=RAW)

    assert problem(answer) == (400, "INVALID_INPUT")
    assert answer.json()["error"]["message"] == "body: is missing; send a JSON object."


@pytest.mark.parametrize(
    ("path", "form", "field"),
    [
        ("/v1/jobs", {}, "name"),
        ("/v1/jobs/batch", {"jobs": [{"name": "a"}, {}]}, "jobs[1].name"),
        ("/v1/leases/claim", {"worker_id": "ada"}, "request_id"),
    ],
)
async def test_a_missing_field_is_called_so(office: Office, path: str, form: Any, field: str) -> None:
    assert await details(office, path, form) == {"field": field, "reason": "is missing."}


async def test_a_missing_scope_is_named_as_the_scope(office: Office) -> None:
    answer = await office.http.post("/v1/jobs", json={}, headers=await office.key("read"))

    assert problem(answer) == (403, "FORBIDDEN")
    assert answer.json()["error"]["message"].startswith("This key does not have the scope 'write'")


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"cron_expression": "61 * * * *"}, "cron_expression"),
        ({"cron": "61 * * * *"}, "cron"),
        ({"job_type": "CRON"}, "cron_expression"),
        ({"job_type": "HOURLY"}, "job_type"),
        ({"schedule": {"type": "hourly"}}, "schedule.type"),
        ({"schedule": {"type": "cron"}}, "schedule.expression"),
        ({"schedule": {"type": "cron", "expression": "x"}}, "schedule.expression"),
        ({"schedule": {"type": "interval", "every_seconds": -1}}, "schedule.every_seconds"),
        ({"schedule": {"type": "once", "at": "tomorrow"}}, "schedule.at"),
        ({"schedule": {"type": "cron", "expression": "0 9 * * *", "timezone": "Mars"}}, "schedule.timezone"),
        ({"cron_expression": "0 9 * * *", "schedule": {"expression": "0 8 * * *"}}, "schedule.expression"),
        ({"retry_config": {"max_attempts": 0}}, "retry_config.max_attempts"),
        ({"retry_config": {"max_retries": 100000}}, "retry_config.max_retries"),
        ({"retry_policy": {"initial_delay_seconds": -1}}, "retry_policy.initial_delay_seconds"),
        ({"retry_config": {"backoff": "cubic"}}, "retry_config.backoff"),
        ({"kind": "http", "payload": {"endpoint": "file:///etc"}}, "payload.endpoint"),
        ({"schedule": {"overlap_policy": "x", "type": "manual"}}, "schedule.overlap_policy"),
    ],
)
async def test_a_field_is_named_in_the_words_of_the_caller(
    office: Office, form: dict[str, Any], field: str
) -> None:
    job = {"name": "job", "kind": "report", **form}

    assert (await details(office, "/v1/jobs", job))["field"] == field
    assert (await details(office, "/v1/jobs/batch", {"jobs": [job]}))["field"] == f"jobs[0].{field}"


async def test_an_expression_whose_years_have_passed_is_named_in_the_words_of_the_caller(
    office: Office,
) -> None:
    past, task = "0 0 0 1 1 * 2020", {"name": "a", "kind": "report"}
    job, dag = {"name": "job", "kind": "report"}, {"name": "dag", "tasks": [task]}
    made = (await office.http.post("/v1/dags", json={**dag, "name": "made"})).json()["dag_id"]
    jobs = {"jobs": [job, {**job, "name": "b", "schedule": {"type": "cron", "expression": past}}]}

    assert (await details(office, "/v1/jobs", {**job, "cron_expression": past}))["field"] == "cron_expression"
    assert (await details(office, "/v1/jobs/batch", jobs))["field"] == "jobs[1].schedule.expression"
    for form, field in (
        ({**dag, "cron_expression": past}, "cron_expression"),
        ({**dag, "schedule": {"type": "cron", "cron": past}}, "schedule.cron"),
        ({**dag, "schedule": {"expression": past}}, "schedule.expression"),
    ):
        assert (await details(office, "/v1/dags", form))["field"] == field
        changed = await office.http.put(f"/v1/dags/{made}", json=form)
        assert changed.json()["error"]["details"]["field"] == field


async def test_what_a_form_names_and_does_not_exist_is_told_with_its_field(office: Office) -> None:
    job: dict[str, object] = {"name": "job", "kind": "report"}
    dag: dict[str, object] = {"name": "dag", "tasks": [{"name": "a", "kind": "report"}]}
    cron: dict[str, object] = {"cron": "0 9 * * *"}
    nothing = "00000000-0000-7000-8000-00000000000f"
    for path, form, field in (
        ("/v1/jobs", {**job, **cron, "calendar": "gone"}, "calendar"),
        ("/v1/jobs", {**job, "schedule": {**cron, "calendar": "gone"}}, "schedule.calendar"),
        ("/v1/jobs", {**job, "dependencies": ["gone"]}, "dependencies"),
        ("/v1/jobs", {**job, "dependencies": [nothing]}, "dependencies"),
        ("/v1/dags", {**dag, "schedule": {"type": "cron", **cron, "calendar": "gone"}}, "schedule.calendar"),
        ("/v1/schedules/preview", {"schedule": {**cron, "calendar": "gone"}}, "schedule.calendar"),
    ):
        answer = await office.http.post(path, json=form)
        assert (answer.status_code, answer.json()["error"]["details"].get("field")) == (404, field), form
    assert (await office.http.get("/v1/jobs/gone")).json()["error"]["details"] == {}


@pytest.mark.parametrize(
    ("task", "field"),
    [
        ({"dependencies": ["b"]}, "tasks.a.dependencies"),
        ({"depends_on": ["b"]}, "tasks.a.depends_on"),
        ({"retry_config": {"jitter": 7}}, "tasks.a.retry_config.jitter"),
        ({"retry_policy": {"initial_delay_seconds": -1}}, "tasks.a.retry_policy.initial_delay_seconds"),
        ({"retry_config": {"initial_delay_seconds": -1}}, "tasks.a.retry_config.initial_delay_seconds"),
    ],
)
async def test_a_field_of_a_task_is_named_in_the_words_of_the_caller(
    office: Office, task: dict[str, Any], field: str
) -> None:
    form = {"name": "dag", "tasks": [{"name": "a", "kind": "report", **task}]}
    assert (await details(office, "/v1/dags", form))["field"] == field


async def test_a_parameter_is_named_as_the_caller_wrote_it(office: Office) -> None:
    task = {"name": "a", "kind": "report"}
    dag = (await office.http.post("/v1/dags", json={"name": "dag", "tasks": [task]})).json()["dag_id"]

    for name in ("from", "to"):
        refused = await office.http.get(f"/v1/dags/{dag}/diff", params={name: "first"})
        assert problem(refused) == (400, "INVALID_INPUT")
        assert refused.json()["error"]["details"]["field"] == name


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({"priority": 10}, "priority"),
        ({"unique_key": ""}, "unique_key"),
        ({"delay_seconds": -1}, "delay_seconds"),
        ({"delay_seconds": 1e10}, "delay_seconds"),
        ({"delay_seconds": 1, "run_at": "2026-03-29T01:30:00Z"}, "delay_seconds"),
        ({"run_at": "tomorrow"}, "run_at"),
        ({"run_at": "9999-12-31T23:59:59Z"}, "run_at"),
    ],
)
async def test_a_field_of_a_run_is_named_in_the_words_of_the_caller_and_says_which_run(
    office: Office, wish: dict[str, Any], field: str
) -> None:
    path = f"/v1/jobs/{(await office.job())['job_id']}"

    assert (await details(office, f"{path}/trigger", wish))["field"] == field
    found = await details(office, f"{path}/executions/batch", {"executions": [{}, wish]})
    assert found["field"] == f"executions[1].{field}"


HELD = {"execution_id": "00000000-0000-0000-0000-000000000000", "claim": 1}


@pytest.mark.parametrize(
    ("path", "items", "good", "bad", "field"),
    [
        ("renew", "leases", {}, {"execution_id": "x"}, "execution_id"),
        ("complete", "completions", {"outcome": "succeeded"}, {"execution_id": "x"}, "execution_id"),
        (
            "complete",
            "completions",
            {"outcome": "snoozed", "delay_seconds": 1},
            {"delay_seconds": 1e40},
            "delay_seconds",
        ),
        ("checkpoint", "checkpoints", {"state": 1}, {"progress": 2}, "progress"),
        ("logs", "lines", {"number": 1, "message": "a"}, {"number": 0}, "number"),
        ("logs", "lines", {"number": 1, "message": "a"}, {"level": "loud"}, "level"),
        ("logs", "lines", {"number": 1, "message": "a"}, {"at": "noon"}, "at"),
    ],
)
async def test_what_a_worker_says_is_refused_with_the_place_in_its_list(
    office: Office, path: str, items: str, good: dict[str, Any], bad: dict[str, Any], field: str
) -> None:
    form = {"worker_id": "ada", items: [{**HELD, **good}, {**HELD, **good, **bad}]}

    assert (await details(office, f"/v1/leases/{path}", form))["field"] == f"{items}[1].{field}"


@pytest.mark.parametrize(
    ("path", "form", "field", "nearest"),
    [
        ("/v1/jobs", {"name": "a", "cron_expresion": "x"}, "cron_expresion", "cron_expression"),
        ("/v1/jobs", {"name": "a", "schedule": {"typ": "cron"}}, "schedule.typ", "type"),
        ("/v1/jobs", {"name": "a", "retry_policy": {"MaxRetries": 1}}, "retry_policy.MaxRetries", None),
        ("/v1/jobs/batch", {"jobs": [{"name": "a", "payloads": 1}]}, "jobs[0].payloads", "payload"),
        ("/v1/dags", {"name": "a", "task": []}, "task", "tasks"),
        ("/v1/dags", {"name": "a", "tasks": [{"name": "b", "kin": "x"}]}, "tasks.b.kin", "kind"),
    ],
)
async def test_an_unknown_field_says_which_are_known_and_which_is_nearest(
    office: Office, path: str, form: Any, field: str, nearest: str | None
) -> None:
    found = await details(office, path, form)

    assert found["field"] == field
    assert nearest is None or f"Did you mean `{nearest}`?" in found["reason"]
    assert " Known: " in found["reason"]


@pytest.mark.parametrize("number", ["1e-400", "100000000000000000000.5", "1234567890.12345678901", "1e999"])
async def test_a_number_that_json_cannot_keep_is_refused_at_every_door(office: Office, number: str) -> None:
    job = await office.job()
    await office.http.post("/v1/dags", json={"name": "dag", "tasks": [{"name": "a", "kind": "report"}]})
    x = f'{{"x": [{number}]}}'
    held = f'"execution_id": "{job["job_id"]}", "claim": 1'
    for path, body, place in [
        ("/v1/jobs", f'{{"name": "b", "kind": "report", "payload": {x}}}', "payload.x[0]"),
        (f"/v1/jobs/{job['job_id']}/trigger", f'{{"input": {x}}}', "input.x[0]"),
        ("/v1/dags", f'{{"name": "b", "config": {x}, "tasks": []}}', "config.x[0]"),
        (
            "/v1/leases/complete",
            f'{{"completions": [{{{held}, "result": {x}}}]}}',
            "completions[0].result.x[0]",
        ),
        (
            "/v1/leases/checkpoint",
            f'{{"checkpoints": [{{{held}, "state": {x}}}]}}',
            "checkpoints[0].state.x[0]",
        ),
    ]:
        answer = await office.http.post(path, content=body.encode(), headers=RAW)
        assert problem(answer) == (400, "INVALID_INPUT"), answer.text
        assert answer.json()["error"]["details"]["field"] == place


async def test_a_whole_number_beyond_sixty_four_bits_is_kept(office: Office) -> None:
    numbers = [2**53 + 1, 2**64 + 1, -(2**70) - 1, 10**100 + 1, 0.1, 1e22]
    job = await office.job(payload={"x": numbers})

    assert (await office.http.get(f"/v1/jobs/{job['job_id']}")).json()["payload"] == {"x": numbers}


@pytest.mark.parametrize("word", ["FIXED", "Fixed", "fixed"])
async def test_a_choice_is_read_in_any_case(office: Office, word: str) -> None:
    job = await office.job(
        retry_policy={"backoff": word}, misfire_policy="Fire_now", overlap_policy="SKIP".title()
    )

    assert job["retry_policy"]["backoff"] == "fixed"
    assert job["schedule"]["misfire_policy"] == "FIRE_NOW"
    assert (await office.http.get("/v1/jobs?status=active")).json()["jobs"]
