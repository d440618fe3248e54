"""The literal examples that users of this ecosystem know, replayed: each works as it stands.

An example that wraps its answer (`{"job": {...}}`) is answered by the object itself: one flat form for all.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx

from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.values.document import Document
from tests.integration.api.conftest import Office, problem

CREATE_FLAT = """{
    "name": "daily-report-generator",
    "job_type": "CRON",
    "cron_expression": "0 9 * * *",
    "timezone": "America/New_York",
    "payload": {
        "endpoint": "https://api.example.com/reports/generate",
        "method": "POST",
        "headers": {
            "Authorization": "Bearer ${secrets.API_TOKEN}"
        },
        "body": {
            "report_type": "daily_summary"
        }
    },
    "retry_config": {
        "max_attempts": 3,
        "backoff_seconds": 300,
        "backoff_multiplier": 2
    },
    "timeout_seconds": 3600,
    "tags": ["reports", "daily"]
}"""
CREATE_NESTED = """{
  "name": "daily-report",
  "schedule": {
    "type": "cron",
    "expression": "0 0 * * *"
  },
  "priority": 5,
  "timeout_seconds": 3600,
  "retry_policy": {
    "max_retries": 3,
    "backoff": "exponential",
    "initial_delay_seconds": 60
  },
  "dependencies": ["job_123", "job_456"]
}"""
REGISTER = """{
  "worker_id": "worker_123",
  "capacity": 10,
  "capabilities": ["python", "java", "shell"]
}"""
HEARTBEAT = """{
  "status": "healthy",
  "current_jobs": 5,
  "capacity": 10
}"""


async def post(office: Office, path: str, body: str) -> httpx.Response:
    return await office.http.post(path, content=body, headers={"Content-Type": "application/json"})


async def with_dependencies(office: Office) -> dict[str, Any]:
    for name in ("job_123", "job_456"):
        await office.job(name=name)
    answer = await post(office, "/v1/jobs", CREATE_NESTED)
    assert answer.status_code == 201, answer.text
    job: dict[str, Any] = answer.json()
    return job


async def test_create_job_in_the_flat_form(office: Office) -> None:
    answer = await post(office, "/v1/jobs", CREATE_FLAT)

    assert answer.status_code == 201
    job = answer.json()
    assert {"job_id", "name", "status", "next_run_time", "created_at"} <= job.keys()
    assert (job["name"], job["status"]) == ("daily-report-generator", "ACTIVE")
    assert job["next_run_time"].endswith("T14:00:00Z")  # Nine in New York, in winter.
    assert job["retry_config"]["max_attempts"] == 3
    assert job["retry_config"]["backoff_seconds"] == 300
    assert job["timeout_seconds"] == 3600
    assert job["tags"] == ["daily", "reports"]
    assert job["kind"] == "http"
    assert job["payload"]["json"] == {"report_type": "daily_summary"}


async def test_create_job_in_the_nested_form(office: Office) -> None:
    job = await with_dependencies(office)

    assert {"job_id", "name", "status", "schedule", "priority", "created_at"} <= job.keys()
    assert job["schedule"]["type"] == "cron"
    assert job["schedule"]["expression"] == "0 0 * * *"
    assert job["schedule"]["next_run"].endswith("T00:00:00Z")
    assert job["retry_policy"]["max_retries"] == 3
    assert job["retry_policy"]["backoff"] == "exponential"
    assert job["retry_policy"]["initial_delay_seconds"] == 60
    assert len(job["dependencies"]) == 2


async def test_get_job_status(office: Office) -> None:
    job = await office.job()
    await office.run(job["job_id"])
    await office.run(job["job_id"])
    first, _ = await office.claim()
    await office.end(first, Succeeded())

    answer = await office.http.get(f"/v1/jobs/{job['job_id']}")

    assert answer.status_code == 200
    shown = answer.json()
    fields = {"job_id", "name", "status", "schedule", "current_run", "last_run", "retry_count"}
    assert fields <= shown.keys()
    assert {"run_id", "started_at", "worker_id"} <= shown["current_run"].keys()
    assert {"run_id", "status", "completed_at"} <= shown["last_run"].keys()


async def test_cancel_job(office: Office) -> None:
    job = await with_dependencies(office)

    answer = await office.http.post(f"/v1/jobs/{job['job_id']}/cancel")

    assert answer.status_code == 200
    assert {"job_id", "status", "cancelled_at"} <= answer.json().keys()


async def test_get_execution_details(office: Office) -> None:
    job = await office.job()
    run = await office.run(job["job_id"])
    [leased] = await office.claim()
    office.clock.advance(timedelta(seconds=328))
    result = {"report_id": "rpt-12345", "rows_processed": 50000}
    await office.end(leased, Succeeded(Document.of(result, field="result")))

    answer = await office.http.get(f"/v1/executions/{run['execution_id']}")

    assert answer.status_code == 200
    shown = answer.json()
    assert shown["execution_id"] == run["execution_id"]
    assert (shown["job_id"], shown["job_name"]) == (job["job_id"], "report")
    assert (shown["attempt_number"], shown["status"]) == (1, "COMPLETED")
    assert {"scheduled_time", "started_at", "completed_at", "logs_url"} <= shown.keys()
    assert (shown["duration_ms"], shown["result"]) == (328_000, result)
    assert (await office.http.get(shown["logs_url"])).status_code == 200


async def test_register_worker_and_heartbeat(office: Office) -> None:
    registered = await post(office, "/v1/workers", REGISTER)
    beat = await post(office, "/v1/workers/worker_123/heartbeat", HEARTBEAT)

    for answer in (registered, beat):
        assert answer.status_code == 200
        worker = answer.json()
        assert {"worker_id", "status", "capacity", "current_jobs", "registered_at"} <= worker.keys()
        assert (worker["worker_id"], worker["capacity"]) == ("worker_123", 10)
        assert worker["capabilities"] == ["java", "python", "shell"]


async def test_an_unknown_job_is_told_in_the_envelope(office: Office) -> None:
    answer = await office.http.get("/v1/jobs/xyz", headers={"X-Request-Id": "req-123456"})

    assert problem(answer) == (404, "JOB_NOT_FOUND")
    assert answer.json()["error"]["request_id"] == "req-123456"


async def test_every_endpoint_of_the_tables_exists(office: Office) -> None:
    job = await office.job(cron="0 9 * * *")
    url = f"/v1/jobs/{job['job_id']}"
    assert (await office.http.put(url, json={"priority": 6})).status_code == 200
    for action in ("pause", "resume"):
        assert (await office.http.post(f"{url}/{action}")).status_code == 200
    run = (await office.http.post(f"{url}/trigger")).json()
    runs = (await office.http.get(f"{url}/executions")).json()["executions"]
    assert [one["execution_id"] for one in runs] == [run["execution_id"]]
    assert (await office.http.post(f"/v1/executions/{run['execution_id']}/cancel")).json()[
        "status"
    ] == "CANCELLED"
    assert (await office.http.delete(url)).json()["status"] == "DELETED"


async def test_rate_limits_are_in_the_headers(small_office: Office) -> None:
    answer = await small_office.http.get("/v1/jobs")

    assert answer.headers["x-ratelimit-limit"] == "5"
    assert answer.headers["x-ratelimit-remaining"] == "4"
    assert int(answer.headers["x-ratelimit-reset"]) > small_office.clock.now().timestamp()
