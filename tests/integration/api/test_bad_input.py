"""Bad inputs, by their numbers in the list of threats: each gets its answer, and leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.api.conftest import Office, problem

JOB = {"name": "job", "kind": "report"}
INVALID = (400, "INVALID_INPUT")
INVALID_CRON = (400, "INVALID_CRON")


async def refused(
    office: Office, form: dict[str, Any], expected: tuple[int, str] = INVALID
) -> dict[str, Any]:
    """The form is refused with that code, and no job is there afterwards."""
    answer = await office.http.post("/v1/jobs", json={**JOB, **form})
    assert problem(answer) == expected, answer.text
    assert (await office.http.get("/v1/jobs")).json()["jobs"] == []
    error: dict[str, Any] = answer.json()["error"]
    return error


async def post_raw(office: Office, body: bytes) -> httpx.Response:
    answer = await office.http.post("/v1/jobs", content=body, headers={"Content-Type": "application/json"})
    assert (await office.http.get("/v1/jobs")).json()["jobs"] == []
    return answer


@pytest.mark.parametrize(
    ("number", "expression"),
    [
        (1, "61 * * * *"),
        (2, "0 0 30 2 *"),
        (4, "*/0 * * * *"),
        (4, "*/-1 * * * *"),
        (4, "5-1 * * * *"),
        (6, "* * * *"),
        (6, "* * * * * * * *"),
        (7, "@reboot"),
        (8, "0 9 * * MON#6"),
        (8, "0 9 ! * *"),
    ],
)
async def test_a_cron_expression_that_makes_no_sense(office: Office, number: int, expression: str) -> None:
    error = await refused(office, {"cron": expression}, INVALID_CRON)
    assert error["details"]["field"] == "cron"
    assert error["details"]["reason"]


async def test_1_says_what_a_minute_may_be(office: Office) -> None:
    error = await refused(office, {"cron": "61 * * * *"}, INVALID_CRON)
    assert "59" in error["message"]


async def test_3_the_leap_day_is_fine(office: Office) -> None:
    assert (await office.job(cron="0 0 29 2 *"))["next_run_time"].endswith("-02-29T00:00:00Z")


@pytest.mark.parametrize("expression", ["," * 10_000, "0 " * 32_000])
async def test_5_an_endless_expression_is_refused_at_once(office: Office, expression: str) -> None:
    started = time.perf_counter()
    answer = await office.http.post("/v1/jobs", json={**JOB, "cron": expression})
    assert answer.status_code == 400
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    "expression", ["0 0 9 * * *", "0 9 * * 5L", "0 9 15W * *", "0 9 ? * MON", "0 9 * * MON#2"]
)
async def test_6_and_8_what_is_documented_is_accepted(office: Office, expression: str) -> None:
    await office.job(cron=expression)


@pytest.mark.parametrize("zone", ["EST5EDT4,M3", "Mars/Phobos", "../../etc/passwd", "", "/etc/localtime"])
async def test_9_an_unknown_time_zone(office: Office, zone: str) -> None:
    answer = await office.http.post("/v1/jobs", json={**JOB, "cron": "0 9 * * *", "timezone": zone})
    assert answer.json()["error"]["code"] in ("INVALID_TIMEZONE", "INVALID_INPUT")
    assert answer.status_code == 400


async def fires(office: Office, **form: Any) -> list[dict[str, Any]]:
    answer = await office.http.post("/v1/schedules/preview", json={"limit": 1000, **form})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["fires"]
    return found


@pytest.mark.parametrize(("start", "count"), [("2030-03-10", 92), ("2030-11-03", 100)])
async def test_10_to_13_daylight_saving(office: Office, start: str, count: int) -> None:
    zone = {"timezone": "America/New_York", "start_at": f"{start}T00:00:00-05:00"}
    if start == "2030-11-03":
        zone["start_at"] = f"{start}T00:00:00-04:00"
    quarters = await fires(office, cron="*/15 * * * *", **zone)
    assert sum(one["local_time"].startswith(start) for one in quarters) == count
    once = await fires(office, cron="30 1 * * *", **zone)
    assert sum(one["local_time"].startswith(start) for one in once) == 1
    gap = await fires(office, cron="30 2 * * *", **zone)
    assert sum(one["local_time"].startswith(start) for one in gap) == 1


async def test_13_half_an_hour_of_daylight_saving(office: Office) -> None:
    found = await fires(office, cron="0 * * * *", timezone="Australia/Lord_Howe")
    assert len(found) == 1000


@pytest.mark.parametrize(
    "instant",
    [
        "2026-02-30T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "2035-01-01T00:00:00",
        "2035-01-01T00:00:60Z",
        "tomorrow",
    ],
)
async def test_14_and_15_an_instant_that_is_none(office: Office, instant: str) -> None:
    error = await refused(office, {"run_at": instant})
    assert error["details"]["field"] == "run_at"


async def test_16_a_time_that_passed_long_ago(office: Office) -> None:
    past = {"run_at": "2016-01-01T00:00:00Z"}
    assert (await refused(office, past))["details"]["field"] == "run_at"
    assert (await office.job(name="run", **past, if_past="run_now"))["status"] == "ACTIVE"
    assert (await office.job(name="skip", **past, if_past="skip"))["schedule"]["misfire_policy"] == "IGNORE"


async def test_what_to_do_with_a_time_in_the_past_can_be_changed_by_itself(office: Office) -> None:
    job = await office.job(run_at="2100-01-01T00:00:00Z")
    path = f"/v1/jobs/{job['job_id']}"

    changed = (await office.http.put(path, json={"if_past": "skip"})).json()
    assert (changed["schedule"]["misfire_policy"], changed["next_run_time"]) == (
        "IGNORE",
        job["next_run_time"],
    )
    assert problem(await office.http.put(path, json={"if_past": "nonsense"})) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("every", ["0", "-5", "1e308", "NaN", '"5"', "0.0001", "1e400", "true"])
async def test_17_an_interval_that_is_none(office: Office, every: str) -> None:
    body = b'{"name": "x", "kind": "report", "interval_seconds": %s}' % every.encode()
    assert problem(await post_raw(office, body)) == INVALID


@pytest.mark.parametrize("seconds", ["0", "-1", "1e9", '"5"', "true"])
async def test_18_a_timeout_that_is_none(office: Office, seconds: str) -> None:
    body = b'{"name": "x", "kind": "report", "timeout_seconds": %s}' % seconds.encode()
    assert problem(await post_raw(office, body)) == INVALID


@pytest.mark.parametrize("attempts", ["0", "-1", "1e9", "1000000000", "2.5", "true", '"3"'])
async def test_19_attempts_that_are_none(office: Office, attempts: str) -> None:
    body = b'{"name": "x", "kind": "report", "retry_policy": {"max_attempts": %s}}' % attempts.encode()
    assert problem(await post_raw(office, body)) == INVALID


async def test_20_a_body_that_is_too_large(office: Office) -> None:
    await refused(office, {"payload": "x" * 300_000}, (413, "PAYLOAD_TOO_LARGE"))
    big = await office.http.post("/v1/jobs", content=b" " * (1024 * 1024 + 1))
    assert problem(big) == (413, "PAYLOAD_TOO_LARGE")
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 65_536
            yield b" " * 65_536

    assert problem(await office.http.post("/v1/jobs", content=endless())) == (413, "PAYLOAD_TOO_LARGE")
    assert read < 2 * 1024 * 1024


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"name": ' * 50_000,
        b'{"name": "a", "name": "b"}',
        b'{"name": "a", "payload": {"x": 1, "x": 2}}',
        b'{"name": "a", "payload": NaN}',
        b'{"name": "a", "payload": Infinity}',
        '{"name": "a"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"name": "a"}',
        b'{"name": "\\ud800"}',
        b'{"name": "a", "kind": "r", "payload": {"\\ud800": "\\udfff"}}',
        b'{"\\ud800": 1}',
        b"\xff\xfe",
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{} {}",
    ],
)
async def test_21_what_is_not_plain_json(office: Office, body: bytes) -> None:
    assert problem(await post_raw(office, body)) == INVALID


async def test_22_numbers_come_back_as_they_were_or_not_at_all(office: Office) -> None:
    for number in (b"1e400", b"-0", b"-0.0", b"9" * 500):
        body = b'{"name": "x", "kind": "report", "payload": {"n": %s}}' % number
        assert problem(await post_raw(office, body)) == INVALID
    body = b'{"name": "x", "kind": "report", "payload": {"n": 9007199254740993, "f": 0.1}}'
    made = await office.http.post("/v1/jobs", content=body)
    assert b"9007199254740993" in made.content
    assert made.json()["payload"] == {"n": 9007199254740993, "f": 0.1}


@pytest.mark.parametrize(
    "form",
    [
        {"name": "a\0b"},
        {"payload": {"x": "\0"}},
        {"tags": ["\0"]},
        {"queue": "\0"},
        {"dependencies": ["\0"]},
    ],
)
async def test_23_a_nul_in_a_string(office: Office, form: dict[str, Any]) -> None:
    await refused(office, form)


async def test_24_odd_names_are_kept_and_endless_ones_are_not(office: Office) -> None:
    await refused(office, {"name": "x" * 1_000_000})
    for name in ("e" + "\u0301" * 100, "\u202eevil", "<img onerror=alert(1)>", "=cmd|' /C calc'!A0"):
        assert (await office.job(name=name))["name"] == name


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"tennant_id": "B"}, "tennant_id"),
        ({"state": "done"}, "state"),
        ({"tenant_id": "B"}, "tenant_id"),
        ({"status": "PAUSED"}, "status"),
        ({"version": 7}, "version"),
        ({"schedule": {"type": "cron", "expression": "0 9 * * *", "next_run": "x"}}, "schedule.next_run"),
        ({"retry_policy": {"tries": 3}}, "retry_policy.tries"),
    ],
)
async def test_25_a_field_that_is_not_for_callers(office: Office, form: dict[str, Any], field: str) -> None:
    assert (await refused(office, form))["details"]["field"] == field


@pytest.mark.parametrize("id", ["..%2Fjobs", "%00", "' OR 1=1--", "x" * 500, "٣" * 36, "{" + "0" * 34 + "}"])
async def test_26_an_id_that_cannot_exist(office: Office, id: str) -> None:
    for path in (f"/v1/jobs/{id}", f"/v1/executions/{id}", f"/v1/dlq/{id}", f"/v1/jobs/{id}/explain"):
        status, code = problem(await office.http.get(path))
        assert status == 404
        assert code in ("JOB_NOT_FOUND", "EXECUTION_NOT_FOUND", "DEAD_LETTER_NOT_FOUND", "NOT_FOUND")


@pytest.mark.parametrize(
    "query",
    ["limit=-1", "limit=0", "limit=1e9", "limit=1000000000", "limit=abc", "cursor=garbage", "cursor=%ff",
     "sort=password", "status=x", "type=x", "next_run_before=x", "limit=1&limit=x", "name=", "tag=%00",
     "tag=a&tag=b", "limit=1&limit=1"],
)  # fmt: skip
async def test_27_a_query_that_makes_no_sense(office: Office, query: str) -> None:
    await office.job()
    assert problem(await office.http.get(f"/v1/jobs?{query}")) == INVALID


# 28 and 29 are in test_jobs.py: one key, many calls; one key, two requests.


@pytest.mark.parametrize("key", ["x" * 10_000, "", "ümlaut".encode(), " "])
async def test_30_a_key_that_is_none(office: Office, key: str | bytes) -> None:
    sent = key.encode() if isinstance(key, str) else key
    answer = await office.http.post("/v1/jobs", json=JOB, headers={b"Idempotency-Key": sent})
    assert problem(answer) == INVALID
    assert answer.json()["error"]["details"]["field"] == "Idempotency-Key"
    assert (await office.http.get("/v1/jobs")).json()["jobs"] == []


# 33 to 36 are in test_workers.py: stale, repeated and forged tokens; a heartbeat after a cancel.


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/", "http://0xa9fea9fe/", "http://2852039166/", "http://0251.0376.0251.0376/",
        "http://169.254.43518/", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::]/", "http://[fd00:ec2::254]/", "http://[fe80::1%25eth0]/",
        "http://user:pw@good@evil/", "http://good\\@evil/", "http://ｅxample.com",
        "file:///etc/passwd", "gopher://example.com/", "http://example.com/a\r\nHost: b",
    ],
)  # fmt: skip
async def test_41_42_and_45_an_address_that_nobody_may_call(office: Office, url: str) -> None:
    for word in ("url", "endpoint"):
        await refused(office, {"kind": "http", "payload": {word: url}})


@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\nb", "\0"])
async def test_45_a_header_of_two_lines(office: Office, value: str) -> None:
    payload = {"url": "https://example.com/", "headers": {"X-A": value}}
    await refused(office, {"kind": "http", "payload": payload})


# 43, 44, 46, 47 and 48 happen when a job runs: tests/integration/handlers, tests/acceptance/engine.


async def test_nonsense_for_the_worker_protocol_is_refused(office: Office) -> None:
    run = str(uuid4())
    await office.enrol("a", kinds=["x"])
    for path, form in [
        ("/v1/leases/claim", {"worker_id": "", "request_id": run, "kinds": ["x"]}),
        ("/v1/leases/claim", {"worker_id": "a", "request_id": "x", "kinds": ["x"]}),
        ("/v1/leases/claim", {"worker_id": "a", "request_id": run, "kinds": ["x"], "limit": 0}),
        ("/v1/leases/claim", {"worker_id": "a", "request_id": run, "kinds": ["x"], "limit": 10**9}),
        ("/v1/leases/claim", {"worker_id": "a", "request_id": run, "kinds": ["x"], "wait_seconds": 10**9}),
        ("/v1/leases/complete", {"worker_id": "a", "completions": []}),
        (
            "/v1/leases/complete",
            {"worker_id": "a", "completions": [{"execution_id": run, "claim": 1, "outcome": "x"}]},
        ),
        (
            "/v1/leases/logs",
            {"worker_id": "a", "lines": [{"execution_id": run, "claim": 1, "number": 0, "message": "x"}]},
        ),
        ("/v1/workers", {"worker_id": "a", "capacity": 0}),
        ("/v1/workers", {"worker_id": "a", "boot": "x"}),
        ("/v1/keys", {"name": "a", "scopes": []}),
        ("/v1/keys", {"name": "a", "scopes": ["root"]}),
        ("/v1/keys", {"name": "a", "scopes": ["read"], "expires_at": "2000-01-01T00:00:00Z"}),
    ]:
        assert problem(await office.http.post(path, json=form)) == INVALID, (path, form)
