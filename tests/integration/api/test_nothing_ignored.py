"""What a caller says is looked at or refused, by name and with what would do: it is never ignored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.api.conftest import Office, problem
from tests.integration.api.dags import made, triggered

SAID = {"reason": "maintenance"}


async def test_a_call_that_takes_no_body_refuses_one(office: Office) -> None:
    document = (await office.http.get("/openapi.json")).json()
    bare = [
        (method, path)
        for path, item in document["paths"].items()
        for method in ("post", "put", "delete")
        if method in item and "requestBody" not in item[method]
    ]
    assert ("post", "/v1/executions/{execution_id}/cancel") in bare
    key = await office.key("admin", "worker")
    for method, path in bare:
        answer = await office.http.request(method, path, json=SAID, headers=key)

        assert problem(answer) == (400, "INVALID_INPUT"), path
        assert answer.json()["error"]["details"]["field"] == "reason"


@pytest.mark.parametrize("body", [b"", b" ", b"{}", b"null"])
async def test_a_call_that_takes_no_body_takes_an_empty_one(office: Office, body: bytes) -> None:
    dag = await made(office)
    run = await triggered(office, dag)

    answer = await office.http.post(f"/v1/dag-runs/{run['dag_run_id']}/cancel", content=body)

    assert (answer.status_code, answer.json()["status"]) == (200, "CANCELLED")


@pytest.mark.parametrize("body", [b"[1]", b"1", b"{", b"\xff", b"x" * 20_000])
async def test_a_body_that_is_no_object_is_refused_as_well(office: Office, body: bytes) -> None:
    job = await office.job()
    run = await office.run(job["job_id"])

    answer = await office.http.post(f"/v1/executions/{run['execution_id']}/cancel", content=body)

    assert problem(answer) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("act", ["pause", "resume", "cancel"])
async def test_the_version_in_the_body_of_an_act_is_looked_at(office: Office, act: str) -> None:
    job = await office.job()
    url = f"/v1/jobs/{job['job_id']}"

    stale = await office.http.post(f"{url}/{act}", json={"version": job["version"] + 1})
    unknown = await office.http.post(f"{url}/{act}", json={"versoin": 1})
    current = await office.http.post(f"{url}/{act}", json={"version": job["version"]})

    assert problem(stale) == (409, "VERSION_CONFLICT")
    assert "`version`" in unknown.json()["error"]["message"]
    assert current.status_code == 200


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"tags": [""]}, "tags", "empty"),
        ({"name": " "}, "name", "empty"),
        ({"payload": {"url": "https://e.org", "metod": "GET"}}, "payload.metod", "`method`"),
        ({"payload": {"url": "https://e.org", "method": "LOOK"}}, "payload.method", "one of "),
        (
            {"payload": {"url": "https://e.org", "endpoint": "https://e.org"}},
            "payload.endpoint",
            "payload.url",
        ),
        ({"payload": {"endpoint": "https://e.org", "body": 1, "json": 2}}, "payload.body", "payload.json"),
    ],
)
async def test_a_refusal_says_where_and_what_would_do(
    office: Office, fields: dict[str, Any], field: str, words: str
) -> None:
    good = {"name": "good", "kind": "http", "payload": {"url": "https://example.org"}}

    alone = (await office.http.post("/v1/jobs", json=good | fields)).json()["error"]
    batch = (await office.http.post("/v1/jobs/batch", json={"jobs": [good, good | fields]})).json()["error"]

    assert (alone["details"]["field"], batch["details"]["field"]) == (field, f"jobs[1].{field}")
    assert words in alone["message"]
    assert words in batch["message"]
