"""Workflows that nobody should be able to make: each gets a clear answer, and nothing of it is kept."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gnomon.core.executions.lifecycle import Succeeded
from tests.integration.api.conftest import Office

QUOTES = 'it\'s "quoted" `so` ´and´ ‘like’ “this” \\ ; DROP TABLE dags; -- ${x} %s {} <b>'


def task(name: str, *depends_on: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "echo", "depends_on": list(depends_on), **more}


def chain(length: int) -> list[dict[str, Any]]:
    return [task("t0"), *(task(f"t{n}", f"t{n - 1}") for n in range(1, length))]


BAD: list[tuple[str, list[dict[str, Any]]]] = [
    ("dag_cycle", [task("a", "b"), task("b", "a")]),
    ("dag_cycle", [task("t0", "t9999"), *chain(10_000)[1:]]),
    ("dag_self", [task("a", "a")]),
    ("unknown_node", [task("a", "nobody")]),
    ("duplicate", [task("a"), task("a")]),
    ("duplicate", [task("a"), task("b", "a", "a")]),
    ("dag_empty", []),
    ("dag_too_large", chain(20_001)),
    ("not_an_ancestor", [task("a"), task("b", payload={"x": "${tasks.a.result}"})]),
    ("unknown_node", [task("a", payload={"x": "${tasks.z.result}"})]),
]


@pytest.mark.parametrize(("problem", "tasks"), BAD, ids=[f"{n}-{bad[0]}" for n, bad in enumerate(BAD)])
async def test_what_could_never_run_is_refused(
    office: Office, problem: str, tasks: list[dict[str, Any]]
) -> None:
    answer = await office.http.post("/v1/dags", json={"name": "bad", "tasks": tasks})

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["details"]["problem"]) == (400, "INVALID_DAG", problem)
    assert len(answer.text) < 2000
    assert (await office.http.get("/v1/dags")).json()["dags"] == []


async def test_half_a_million_dependencies_are_refused_at_once(office: Office) -> None:
    tasks = [task(f"t{n}", *(f"t{before}" for before in range(n))) for n in range(1000)]
    began = time.process_time()
    answer = await office.http.post("/v1/dags", json={"name": "bad", "tasks": tasks})
    took = time.process_time() - began

    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["problem"]) == (400, "too_many_edges")
    assert "499500 dependencies; at most 100000" in error["message"]
    assert took < 2  # Some 150 ms, of which most is the JSON; the rest is room for a busy machine.
    assert (await office.http.get("/v1/dags")).json()["dags"] == []


async def test_a_name_with_every_kind_of_quote_is_just_a_name(office: Office) -> None:
    tasks = [task(QUOTES), task("b", QUOTES)]
    answer = await office.http.post("/v1/dags", json={"name": QUOTES, "tasks": tasks})
    assert answer.status_code == 201, answer.text
    dag = answer.json()
    found = (await office.http.get("/v1/dags", params={"name": QUOTES})).json()["dags"]
    assert [one["dag_id"] for one in found] == [dag["dag_id"]]

    run = (await office.http.post(f"/v1/dags/{dag['dag_id']}/trigger")).json()
    path = f"/v1/dag-runs/{run['dag_run_id']}"
    for _ in range(2):
        [leased] = await office.claim(kinds=["echo"])
        await office.end(leased, Succeeded())
    names = [one["name"] for one in (await office.http.get(f"{path}/tasks")).json()["tasks"]]
    assert (names, (await office.http.get(path)).json()["status"]) == ([QUOTES, "b"], "COMPLETED")
    unknown = await office.http.post(f"{path}/rerun", json={"tasks": [QUOTES, "c"]})
    assert unknown.json()["error"]["details"]["field"] == "tasks[1]"
    again = await office.http.post(f"{path}/rerun", json={"tasks": [QUOTES]})
    assert (again.status_code, again.json()["tasks_left"]) == (200, 2)


async def test_a_result_of_ten_megabytes_is_refused(office: Office) -> None:
    made = await office.http.post("/v1/dags", json={"name": "x", "tasks": [{"name": "gate", "approval": {}}]})
    run = (await office.http.post(f"/v1/dags/{made.json()['dag_id']}/trigger")).json()
    path = f"/v1/dag-runs/{run['dag_run_id']}"
    huge = {"result": "x" * 10_000_000}

    refused = await office.http.post(f"{path}/tasks/gate/succeed", json=huge)
    told = await office.http.post("/v1/dag-events", json={"name": "e", "data": "x" * 10_000_000})

    assert [(one.status_code, one.json()["error"]["code"]) for one in (refused, told)] == [
        (413, "PAYLOAD_TOO_LARGE")
    ] * 2
    assert (await office.http.get(path)).json()["status"] == "RUNNING"
