"""Workflows over the API: made, triggered, begun."""

from __future__ import annotations

from typing import Any

from tests.integration.api.conftest import Office


async def made_of(office: Office, *tasks: dict[str, Any], name: str = "x", **more: Any) -> str:
    answer = await office.http.post("/v1/dags", json={"name": name, "tasks": list(tasks), **more})
    assert answer.status_code == 201, answer.text
    dag_id: str = answer.json()["dag_id"]
    return dag_id


async def begun(office: Office, *tasks: dict[str, Any], **more: Any) -> str:
    """The path of a run."""
    answer = await office.http.post(f"/v1/dags/{await made_of(office, *tasks, **more)}/trigger")
    assert answer.status_code == 201, answer.text
    return f"/v1/dag-runs/{answer.json()['dag_run_id']}"


EXAMPLE: dict[str, Any] = {
    "name": "etl-pipeline",
    "cron_expression": "0 2 * * *",
    "timezone": "UTC",
    "tasks": [
        {
            "name": "extract",
            "payload": {"action": "extract_data", "source": "production_db"},
            "timeout_seconds": 1800,
        },
        {
            "name": "transform",
            "payload": {"action": "transform_data"},
            "dependencies": ["extract"],
            "timeout_seconds": 3600,
        },
        {
            "name": "load",
            "payload": {"action": "load_data", "destination": "data_warehouse"},
            "dependencies": ["transform"],
            "timeout_seconds": 1800,
        },
        {
            "name": "notify",
            "payload": {"action": "send_notification", "channel": "#data-team"},
            "dependencies": ["load"],
        },
    ],
}


async def made(office: Office, **changes: Any) -> dict[str, Any]:
    answer = await office.http.post("/v1/dags", json=EXAMPLE | changes)
    assert answer.status_code == 201, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def triggered(office: Office, dag: dict[str, Any], **body: Any) -> dict[str, Any]:
    answer = await office.http.post(f"/v1/dags/{dag['dag_id']}/trigger", json=body)
    assert answer.status_code == 201, answer.text
    run: dict[str, Any] = answer.json()
    return run
