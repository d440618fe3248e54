"""What people do to runs and workflows, with odd words: each gets a clear answer, and nothing has changed."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed, Succeeded
from gnomon.errors import JobAlreadyExists
from tests.integration.api.conftest import Office
from tests.integration.api.dags import begun, made_of

GATE: dict[str, Any] = {"name": "gate", "approval": {}}
NUL, SURROGATE = "a\0b", "\\ud800"


async def posted(office: Office, path: str, text: str) -> tuple[int, str, str]:
    """The status, the code and the field that the answer names."""
    answer = await office.http.post(path, content=text.encode())
    error = answer.json().get("error", {"code": "none", "details": {}})
    return answer.status_code, error["code"], error["details"].get("field", "none")


@pytest.mark.parametrize("act", ["approve", "reject"])
@pytest.mark.parametrize(
    ("note", "status"),
    [('"a\\u0000b"', 400), ('"\\ud800"', 400), (f'"{"x" * 300_000}"', 413)],
    ids=["nul", "surrogate", "long"],
)
async def test_a_note_that_cannot_be_kept_is_refused_and_the_task_waits_on(
    office: Office, act: str, note: str, status: int
) -> None:
    run = await begun(office, GATE, {"name": "next", "kind": "echo", "depends_on": ["gate"]})

    found = await posted(office, f"{run}/tasks/gate/{act}", f'{{"note": {note}}}')

    assert (found[0], found[2]) == (status, "note")
    tasks = (await office.http.get(f"{run}/tasks")).json()["tasks"]
    assert [task["status"] for task in tasks] == ["HELD", "WAITING"]
    assert (await office.http.post(f"{run}/tasks/gate/approve")).status_code == 200
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, Succeeded())
    assert (await office.http.get(run)).json()["status"] == "COMPLETED"


HALF = "x" * 200_000


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}], ids=["plain", "keyed"])
@pytest.mark.parametrize("more", [{}, {"schedule": {"overlap_policy": "queue"}}], ids=["free", "queue"])
async def test_a_configuration_that_is_too_large_together_is_refused(
    office: Office, headers: dict[str, str], more: dict[str, Any]
) -> None:
    path = f"/v1/dags/{await made_of(office, {'name': 'a', 'kind': 'echo'}, config={'old': HALF}, **more)}"

    answer = await office.http.post(f"{path}/trigger", json={"config": {"new": HALF}}, headers=headers)

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["details"]["field"]) == (
        413,
        "PAYLOAD_TOO_LARGE",
        "config",
    )
    assert (await office.http.get(f"{path}/runs")).json()["runs"] == []


async def test_a_run_that_was_asked_for_with_what_is_no_configuration_fails_and_says_so(
    office: Office,
) -> None:
    dag_id = await made_of(office, {"name": "a", "kind": "echo"})

    asked = await office.http.post(f"/v1/jobs/{dag_id}/trigger", json={"input": [1]})
    assert asked.status_code == 201, asked.text
    await office.store.runs.start(now=office.clock.now(), limit=10)

    run = (await office.http.get(f"/v1/dag-runs/{asked.json()['execution_id']}")).json()
    assert (run["status"], run["error"]["kind"]) == ("FAILED", "invalid_config")
    assert "must be an object" in run["error"]["message"]


async def test_a_deleted_workflow_is_not_run_and_its_runs_are_not_repaired(office: Office) -> None:
    run = await begun(office, {"name": "a", "kind": "echo", "max_retries": 0}, GATE)
    dag = f"/v1/dags/{(await office.http.get(run)).json()['dag_id']}"
    [leased] = await office.claim(kinds=["echo"])
    await office.end(leased, Failed(Failure("oops", "went wrong")))
    assert (await office.http.delete(dag)).status_code == 200
    before = (await office.http.get(run)).json()
    assert before["status"] == "CANCELLED"

    answers = [
        await office.http.post(f"{dag}/trigger"),
        await office.http.post(f"{run}/rerun"),
        await office.http.post(f"{run}/tasks/a/retry"),
        await office.http.post(f"{run}/tasks/a/skip"),
    ]

    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (409, "ILLEGAL_TRANSITION")
        assert "workflow that is DELETED" in answer.json()["error"]["message"]
    assert (await office.http.get(run)).json() == before


@pytest.mark.parametrize("name", ["a/b", "/", "a//b/", "x/approve", "50%2F", "a b?#", "ü/ö"])
async def test_a_task_of_any_name_is_acted_on(office: Office, name: str) -> None:
    run = await begun(office, GATE | {"name": name}, failure_strategy="PAUSE")
    task = f"{run}/tasks/{quote(name, safe='')}"

    for act, status in [("reject", "HALTED"), ("retry", "HELD"), ("approve", "COMPLETED")]:
        answer = await office.http.post(f"{task}/{act}")
        assert answer.status_code == 200, answer.text
        [found] = (await office.http.get(f"{run}/tasks")).json()["tasks"]
        assert (found["name"], found["status"]) == (name, status)
    nobody = await office.http.post(f"{run}/tasks/{quote('no/body', safe='')}/skip")
    assert (nobody.status_code, nobody.json()["error"]["details"]["field"]) == (400, "task")
    assert (await office.http.post(f"{task}/paint")).status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ('{"name": "pay", "correlation": "\\ud800"}', 400, "correlation"),
        ('{"name": "pay", "correlation": "x\\u0000y"}', 400, "correlation"),
        (f'{{"name": "pay", "correlation": "{"x" * 300_000}"}}', 413, "correlation"),
        ('{"name": "a\\u0000b"}', 400, "name"),
        ('{"name": " "}', 400, "name"),
    ],
    ids=["surrogate", "nul", "long", "bad name", "blank name"],
)
async def test_an_event_that_nobody_could_wait_for_is_refused(
    office: Office, body: str, status: int, field: str
) -> None:
    found = await posted(office, "/v1/dag-events", body)
    assert (found[0], found[2]) == (status, field)


PLAIN = {"name": "a", "kind": "echo"}
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"approval": {}, "timeout_seconds": 3}, "timeout_seconds", "`approval.timeout_seconds`"),
    ({"approval": {}, "max_retries": 2}, "max_retries", "for a task with `kind`"),
    ({"approval": {}, "payload": {"x": 1}}, "payload", "for a task with `kind`"),
    ({"event": {"name": "e"}, "timeout_seconds": 5}, "timeout_seconds", "`event.timeout_seconds`"),
    ({"dag": "y", "payload": {"x": 1}}, "payload", "`config`"),
    ({"dag": "y", "queue": "q"}, "queue", "for a task with `kind`"),
    ({"dag": "y", "timeout_seconds": 3}, "timeout_seconds", "for a task with `kind`"),
    ({"kind": "gnomon.dag"}, "kind", "`dag`"),
    ({"payload": {"action": "gnomon.dag"}}, "kind", "`dag`"),
    ({"approval": {"timeout_seconds": 0}}, "approval.timeout_seconds", "between 1 and"),
    ({"event": {"name": "e", "timeout_seconds": 0}}, "event.timeout_seconds", "between 1 and"),
    ({"kind": "k", "max_retries": 1000}, "max_retries", "from 0 to 999"),
    ({"kind": "k", "retry_config": {"max_retries": -1}}, "retry_config.max_retries", "from 0 to 999"),
    ({"kind": "k", "trigger_rule": "any"}, "trigger_rule", "all_success, all_done"),
    (
        {"kind": "k", "condition": {"value_of": "${config.x}", "is": "big"}},
        "condition.is",
        "==, !=, <",
    ),
    ({"kind": "k", "retry_policy": {"backoff": "slow"}}, "retry_policy.backoff", "fixed, exponential"),
]


@pytest.mark.parametrize(
    ("task", "field", "words"), REFUSED, ids=[f"{n}-{one[1]}" for n, one in enumerate(REFUSED)]
)
async def test_what_a_task_could_not_mean_is_refused_with_where_it_belongs(
    small_office: Office, task: dict[str, Any], field: str, words: str
) -> None:
    answer = await small_office.http.post("/v1/dags", json={"name": "x", "tasks": [{"name": "a"} | task]})

    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["field"]) == (400, f"tasks.a.{field}")
    assert words in error["message"]


@pytest.mark.parametrize(
    ("more", "field", "words"),
    [
        ({"timezone": "Mars/X"}, "timezone", "IANA"),
        ({"cron_expression": "61 * * * *"}, "cron_expression", "61"),
        ({"cron_expression": "0 0 * * *", "timezone": "Mars/X"}, "timezone", "IANA"),
        ({"schedule": {"type": "cron", "cron": "61 * * * *"}}, "schedule.cron", "61"),
        ({"schedule": {"type": "interval"}}, "schedule.interval_seconds", "missing"),
        (
            {"failure_strategy": "fail_slow"},
            "failure_strategy",
            "FAIL_FAST, FAIL_DOWNSTREAM, CONTINUE, PAUSE",
        ),
    ],
)
async def test_what_is_wrong_with_a_workflow_is_named_as_it_was_written(
    small_office: Office, more: dict[str, Any], field: str, words: str
) -> None:
    answer = await small_office.http.post("/v1/dags", json={"name": "x", "tasks": [PLAIN], **more})

    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["field"]) == (400, field)
    assert words in error["message"]


async def test_choices_are_listed_where_one_was_missed(small_office: Office) -> None:
    dag_id = await made_of(small_office, PLAIN, cron_expression="0 0 * * *")
    span = {"start": "2026-01-01", "end": "2026-01-02", "existing": "some"}
    body = await small_office.http.post(f"/v1/dags/{dag_id}/backfills", json=span)
    query = await small_office.http.get("/v1/dags", params={"status": "ASLEEP"})

    assert (body.status_code, query.status_code) == (400, 400)
    assert "skip_existing, only_failed, all" in body.json()["error"]["message"]
    assert query.json()["error"]["details"]["field"] == "status"
    assert "ACTIVE, PAUSED" in query.json()["error"]["message"]


async def test_a_payload_that_is_too_large_is_so_wherever_it_is(office: Office) -> None:
    huge = {"x": "x" * 300_000}
    tasks = [PLAIN | {"payload": huge}], [{"name": "a", "dag": "y", "config": huge}]
    for one in tasks:
        answer = await office.http.post("/v1/dags", json={"name": "x", "tasks": one})
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "PAYLOAD_TOO_LARGE")


async def test_the_same_definition_makes_no_revision_and_a_stale_version_is_refused(office: Office) -> None:
    document = {"name": "x", "tasks": [PLAIN]}
    path = f"/v1/dags/{await made_of(office, PLAIN)}"

    same = await office.http.put(path, json=document, headers={"If-Match": '"1"'})
    assert (same.status_code, same.json()["revision"], same.json()["version"]) == (200, 1, 1)
    same = await office.http.put(path, json=document | {"version": 1})
    assert (same.json()["revision"], same.json()["version"]) == (1, 1)
    stale = await office.http.put(path, json=document | {"version": 7})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "VERSION_CONFLICT")


@pytest.mark.parametrize(
    ("method", "action"), [("DELETE", ""), ("POST", "/pause"), ("POST", "/resume")], ids=lambda one: one
)
async def test_no_act_on_a_workflow_passes_over_the_version_that_the_caller_has_seen(
    office: Office, method: str, action: str
) -> None:
    path = f"/v1/dags/{await made_of(office, PLAIN)}"
    bodies: list[dict[str, Any]] = [
        {"headers": {"If-Match": '"7"'}},
        *([{"json": {"version": 7}}] if action else []),
    ]

    for said in bodies:
        stale = await office.http.request(method, path + action, **said)
        assert (stale.status_code, stale.json()["error"]["code"]) == (409, "VERSION_CONFLICT")
    assert (await office.http.get(path)).json()["status"] == "ACTIVE"
    fresh = await office.http.request(method, path + action, headers={"If-Match": '"1"'})
    assert fresh.status_code == 200, fresh.text


async def test_a_workflow_cannot_have_the_name_of_a_job(office: Office) -> None:
    await office.job(name="extract")
    with pytest.raises(JobAlreadyExists, match="A job or workflow named 'extract' exists"):
        await office.client.dags.apply({"name": "extract", "tasks": [PLAIN]})


async def test_what_cannot_be_done_is_told_in_plain_words(office: Office) -> None:
    job = await office.job()
    await office.http.delete(f"/v1/jobs/{job['job_id']}")
    updated = await office.http.put(f"/v1/jobs/{job['job_id']}", json={"name": "other"})
    run = await begun(office, PLAIN)
    again = await office.http.post(f"{run}/rerun")
    execution = (await office.http.get(f"{run}/tasks")).json()["tasks"][0]["execution_ids"][0]
    retried = await office.http.post(f"/v1/executions/{execution}/retry")

    words = [one.json()["error"]["message"] for one in (updated, again, retried)]
    assert words == [
        "A job that is DELETED cannot be changed by 'update'.",
        "A run without failed tasks that is RUNNING cannot be changed by 'rerun_failed'.",
        "An execution that is QUEUED cannot be changed by 'retry'.",
    ]
