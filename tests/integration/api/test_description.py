"""What the API says of itself is true: its examples are accepted, its ranges are enforced, its page works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest

from gnomon.api.described.curl import command, variables_in
from gnomon.api.described.document import operations
from gnomon.api.described.field import BYTES_MAX
from gnomon.api.described.page import page
from gnomon.handlers.registry import Registry
from tests.integration.api.conftest import BASE, UNLIMITED, Office, memory

Document = dict[str, Any]
# Their examples name a state that an example cannot bring about: a lease, a dead letter, a task that waits.
NEED_A_STATE = {
    "renew", "complete", "checkpoint", "log", "redrive_one", "retry_execution", "rerun_dag_run", "retry_task",
    "skip_task", "fail_task", "succeed_task", "approve_task", "reject_task", "purge_one", "get_dead_letter",
    "get_dag_run", "cancel_dag_run", "pause_dag_run", "resume_dag_run", "list_run_tasks", "get_backfill",
    "list_backfill_runs", "pause_backfill", "resume_backfill", "cancel_backfill",
}  # fmt: skip
STREAMS = {"follow_logs", "stream_events"}
CRON = {"cron": "0 9 * * *"}
ONCE = {"run_at": "2090-01-01T00:00:00Z"}
# What a field of a schedule needs beside it.
BESIDE: dict[str, dict[str, Any]] = {
    "timezone": CRON, "gap": CRON, "fold": CRON, "anchor": {"interval_seconds": 60}, "if_past": ONCE,
    "jitter_seconds": {"interval_seconds": 86_400},
}  # fmt: skip
JOB = {"name": "one", "kind": "http", "payload": {"url": "https://example.com"}}
WEEK = {"start": "2025-03-01", "end": "2025-03-07"}
TASK = {"name": "load", "kind": "http", "payload": {"url": "https://example.com"}}
DEPENDENT = {"depends_on", "dependencies", "condition"}
# The path of a call, what it is sent, where in it the value goes, and of which schema.
PLACES: list[tuple[str, dict[str, Any], tuple[str | int, ...], str]] = [
    ("/v1/jobs", JOB, (), "NewJob"),
    ("/v1/jobs", {**JOB, "schedule": {}}, ("schedule",), "NestedSchedule"),
    ("/v1/jobs", {**JOB, "retry_policy": {}}, ("retry_policy",), "Retry"),
    ("/v1/jobs", {**JOB, "retry_config": {}}, ("retry_config",), "Retry"),
    ("/v1/jobs/{job}/trigger", {}, (), "Wish"),
    ("/v1/jobs/{job}/executions/batch", {"executions": []}, (), "Wishes"),
    ("/v1/schedules/preview", {}, (), "PreviewForm"),
    ("/v1/dags", {"name": "two", "tasks": [TASK]}, (), "NewDag"),
    ("/v1/dags", {"name": "two", "tasks": [TASK]}, ("tasks", 0), "TaskForm"),
    (
        "/v1/dags",
        {"name": "two", "tasks": [{**TASK, "retry_policy": {}}]},
        ("tasks", 0, "retry_policy"),
        "RetryForm",
    ),
    (
        "/v1/dags",
        {"name": "two", "tasks": [{"name": "wait", "approval": {}}]},
        ("tasks", 0, "approval"),
        "ApprovalForm",
    ),
    (
        "/v1/dags",
        {"name": "two", "tasks": [{"name": "wait", "event": {"name": "x"}}]},
        ("tasks", 0, "event"),
        "EventForm",
    ),
    ("/v1/dags/{dag}/backfills", WEEK, (), "NewBackfill"),
    ("/v1/dag-events", {"name": "x"}, (), "NewEvent"),
    ("/v1/dlq/redrive", {"all": True}, (), "WhichToRedrive"),
    ("/v1/workers", {"worker_id": "bob", "kinds": ["http"]}, (), "NewWorker"),
    ("/v1/workers/ada/heartbeat", {}, (), "Beat"),
    (
        "/v1/leases/claim",
        {"worker_id": "ada", "request_id": "019a96fb-4e20-7199-bc46-a05e3d8b7f88"},
        (),
        "ClaimForm",
    ),
    ("/v1/keys", {"name": "one", "scopes": ["read"]}, (), "NewKeyForm"),
]
# Bounds that hold for what is kept and shown, and where a call is cut or passed by.
NOT_REFUSED = {("Beat", "current_jobs")}


@pytest.fixture
async def office(handlers: Registry) -> AsyncIterator[Office]:
    """On SQLite alone: what is described does not depend on the store."""
    office = Office(await memory(), handlers, settings=UNLIMITED)
    await office.open()
    yield office
    await office.http.aclose()
    await office.store.close()


async def described(office: Office) -> Document:
    document: Document = (await office.http.get("/openapi.json")).json()
    return document


async def furnish(office: Office) -> dict[str, str]:
    """An object of each kind, by the variable that the commands of the page have for its id."""
    job = await office.job()
    run = await office.run(job["job_id"])
    dag = await office.http.post(
        "/v1/dags", json={"name": "nightly", "cron_expression": "0 2 * * *", "tasks": [TASK]}
    )
    assert dag.status_code == 201, dag.text
    await office.enrol("ada")

    key = (await office.http.post("/v1/keys", json={"name": "spare", "scopes": ["read"]})).json()["key_id"]
    return {
        "JOB_ID": job["job_id"],
        "EXECUTION_ID": run["execution_id"],
        "DAG_ID": dag.json()["dag_id"],
        "WORKER_ID": "ada",
        "REVISION": "1",
        "KEY_ID": key,
        "DAG_RUN_ID": run["execution_id"],
        "BACKFILL_ID": run["execution_id"],
        "TASK": "load",
        "NAME": "closed",
    }


async def test_every_command_of_the_page_works_when_it_is_pasted(office: Office) -> None:
    document = await described(office)
    ids = await furnish(office)
    for path, method, operation in operations(document):
        name = operation["operationId"]
        if name in STREAMS:
            continue
        assert set(variables_in(path)) <= ids.keys(), name
        text = command(BASE, path, method, operation)
        answer = await _pasted(office, text, {**ids, **await _fresh(office)})
        if name in NEED_A_STATE:
            assert answer.status_code in (200, 404, 409), f"{text}\n{answer.text}"
        else:
            assert answer.status_code < 300, f"{text}\n{answer.text}"


async def test_each_call_that_changes_what_has_a_version_takes_the_version_that_was_seen(
    office: Office,
) -> None:
    changing = {
        operation["operationId"]: {one.get("name") for one in operation["parameters"]}
        for _, method, operation in operations(await described(office))
        if method.lower() != "get" and "ETag" in operation["responses"].get("200", {}).get("headers", {})
    }
    assert {"delete_job", "delete_dag", "put_calendar"} <= changing.keys()
    assert [name for name, parameters in changing.items() if "If-Match" not in parameters] == []


async def test_every_example_of_a_body_is_accepted(office: Office) -> None:
    document = await described(office)
    for path, method, operation in operations(document):
        contents = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        for example in (
            contents.get("examples", {}).values() if operation["operationId"] not in NEED_A_STATE else ()
        ):
            ids = {name.lower(): one for name, one in (await _fresh(office)).items()}
            answer = await office.http.request(method, path.format(**ids), json=example["value"])
            assert answer.status_code < 300, (
                f"{operation['operationId']}, {example['summary']}: {answer.text}"
            )


@pytest.mark.parametrize(
    ("path", "body", "place", "schema"), PLACES, ids=[f"{one[3]} {one[0]}" for one in PLACES]
)
async def test_what_lies_outside_of_a_range_is_refused_and_its_limit_is_not(
    office: Office, path: str, body: dict[str, Any], place: tuple[str | int, ...], schema: str
) -> None:
    document = await described(office)
    ids = await furnish(office)
    path = path.format(job=ids["JOB_ID"], dag=ids["DAG_ID"])
    for field, one in document["components"]["schemas"][schema]["properties"].items():
        beside: dict[str, Any] = (
            BESIDE.get(field, {}) if schema in ("NewJob", "NestedSchedule", "PreviewForm") else {}
        )
        for is_allowed, value in _at_the_edges(one):
            if (schema, field) in NOT_REFUSED:
                continue
            new = {"name": f"one {office.ids.next(office.clock.now())}"} if "name" in body else {}
            sent = _with({**body, **new}, place, {**beside, field: value})
            answer = await office.http.post(path, json=sent)
            told = answer.json().get("error", {}).get("details", {}).get("field", "")
            names_it = field in told or (answer.status_code == 413 and field in answer.text)
            shown = f"{field}: {str(value)[:60]!r} gets {answer.status_code} {answer.text[:300]}"
            if is_allowed:
                assert not names_it, f"allowed, but {shown}"
            else:
                assert answer.status_code in (400, 413), f"not refused: {shown}"


async def test_the_page_has_a_place_for_each_of_its_links_and_needs_nothing_from_elsewhere(
    office: Office,
) -> None:
    text = (await office.http.get("/docs")).text
    look = _Look()
    look.feed(text)
    look.close()

    assert look.open == []
    assert {one.removeprefix("#") for one in look.links if one.startswith("#")} <= look.ids
    assert len(look.ids) == len(look.all_ids)
    assert {one for one in look.links if not one.startswith("#")} == {"/openapi.json", "/docs/style.css"}
    assert "script" not in look.tags
    document = await described(office)
    for _, _, operation in operations(document):
        assert operation["operationId"] in look.ids
    assert (await office.http.get("/docs/style.css")).status_code == 200


async def test_the_page_escapes_what_it_shows(office: Office) -> None:
    document = await described(office)
    hostile = "<script>alert('1')</script>"
    for _, _, operation in operations(document):
        operation["description"] = operation["summary"] = hostile
        for one in operation["parameters"]:
            one["description"] = one["example"] = hostile
    for schema in document["components"]["schemas"].values():
        schema["description"] = hostile
        for one in schema.get("properties", {}).values():
            one.update(description=hostile, examples=[hostile], enum=[hostile], default=hostile)
    for example in document["components"]["examples"].values():
        example.update(summary=hostile, value={"error": hostile})

    assert "<script" not in page(document, BASE)


@pytest.mark.parametrize("host", ['x"$(reboot)', "x'><script>", "x`id`", "x;id", "x y", "x/../y"])
async def test_the_page_takes_no_command_from_the_header_of_a_call(office: Office, host: str) -> None:
    answer = await office.http.get("/docs", headers={"Host": host})
    assert answer.status_code in (200, 400)
    assert host not in answer.text


async def test_the_commands_name_the_address_that_the_caller_used(office: Office) -> None:
    text = (await office.http.get("/docs", headers={"Host": "jobs.example.org:8484"})).text
    assert "http://jobs.example.org:8484/v1/jobs" in text


async def _pasted(office: Office, text: str, ids: dict[str, str]) -> httpx.Response:
    """What a shell makes of the command, sent."""
    key = office.http.headers["Authorization"].removeprefix("Bearer ")
    script = 'curl() { for one in "$@"; do printf "%s\\0" "$one"; done; }\n' + text
    shell = await asyncio.create_subprocess_exec(
        "sh", "-euc", script, env={**ids, "GNOMON_KEY": key}, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await shell.communicate()
    assert shell.returncode == 0, text
    words = iter(said.decode().split("\0")[:-1])
    method, url, headers, body = "", "", {}, None
    for word in words:
        match word:
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case "-sS" | "-N":
                pass
            case _:
                assert not url
                url = word
    return await office.http.request(
        method or ("GET" if body is None else "POST"), url, headers=headers, content=body
    )


async def _fresh(office: Office) -> dict[str, str]:
    """Objects of their own for each example, since one of them may end what another one needs."""
    job = await office.job(name=f"job {office.ids.next(office.clock.now())}")
    form = {"name": f"dag {job['job_id']}", "cron_expression": "0 2 * * *", "tasks": [TASK]}
    dag = (await office.http.post("/v1/dags", json=form)).json()
    for listed, path in (("jobs", "/v1/jobs"), ("dags", "/v1/dags")):
        for one in (await office.http.get(path)).json()[listed]:
            if not one["name"].startswith(("job ", "dag ")):
                await office.http.delete(f"{path}/{one['job_id' if listed == 'jobs' else 'dag_id']}")
    await office.enrol("worker-a1", kinds=["http", "script"])
    await office.enrol("ada")
    await office.client.calendars.save("closed", [])
    return {"JOB_ID": job["job_id"], "DAG_ID": dag["dag_id"], "WORKER_ID": "ada", "NAME": "closed"}


def _with(body: Any, place: tuple[str | int, ...], fields: dict[str, Any]) -> Any:
    if not place:
        return {**body, **fields}
    key, *rest = place
    if isinstance(body, list):
        return [_with(one, tuple(rest), fields) if at == key else one for at, one in enumerate(body)]
    return {**body, key: _with(body[key], tuple(rest), fields)}


def _at_the_edges(schema: Document) -> Iterator[tuple[bool, Any]]:
    """Values at the limits of a schema, which are allowed, and next to them, which are not."""
    for one in schema.get("anyOf", [schema]):
        match one.get("type"):
            case "integer" | "number" if "maximum" in one or "minimum" in one:
                if "maximum" in one:
                    yield True, one["maximum"]
                    yield False, one["maximum"] + 1
                yield True, one["minimum"]
                yield False, one["minimum"] - 1
            case "string":
                yield from ((False, value) for value in _wrong_texts(one))
            case "array" if "maxItems" in one:
                yield False, [_example(one["items"], number) for number in range(one["maxItems"] + 1)]
            case None if one.get(BYTES_MAX, 1 << 30) <= 1 << 18:
                yield False, "x" * one[BYTES_MAX]


def _wrong_texts(schema: Document) -> Iterator[str]:
    if "enum" in schema:
        yield "no such word"
    if schema.get("format") in ("uuid", "date-time", "date"):
        yield "neither"
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "minLength" in schema:
        yield ""


def _example(schema: Document, number: int) -> Any:
    return f"name {number}" if schema.get("type") == "string" else {}


class _Look(HTMLParser):
    """What is in a page: its tags, ids and links, and what was left open."""

    _VOID = frozenset({"meta", "link", "wbr", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.all_ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []

    @property
    def ids(self) -> set[str]:
        return set(self.all_ids)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.tags.add(tag)
        self.all_ids += [told["id"] or ""] if "id" in told else []
        self.links += [told[name] or "" for name in ("href", "src", "action") if name in told]
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
