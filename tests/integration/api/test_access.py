"""Who may call what: every route, with every kind of key. What has no policy is not mounted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from litestar import get

from gnomon.api import ROUTES, application
from gnomon.api.serving.callers import REMEMBERED
from gnomon.api.serving.failures import CLOSE_CODES
from gnomon.core.access.keys import Scope
from gnomon.health.checks import STEP_AGE_MAX
from tests.integration.api.conftest import Office, problem

WS = "WS"
CALLS = [
    (next(iter(getattr(route, "http_methods", {WS}))), min(route.paths), route.opt["policy"])
    for route in ROUTES
]
PUBLIC = {"/livez", "/readyz", "/version", "/metrics", "/openapi.json", "/docs"}


def path_of(template: str) -> str:
    return "/".join("x" if part.startswith("{") else part for part in template.split("/"))


async def handshake(office: Office, path: str, headers: dict[str, str], query: bytes = b"") -> int:
    """How a server that knows ASGI would answer a client that wants a WebSocket."""
    sent: list[dict[str, Any]] = []
    incoming = [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1000}]

    async def receive() -> Any:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "subprotocols": [],
        "extensions": {},
    }
    await office.app(scope, receive, send)
    answer = sent[0]
    return 101 if answer["type"] == "websocket.accept" else int(answer["code"]) - CLOSE_CODES


@pytest.mark.parametrize(
    ("method", "path", "policy"), CALLS, ids=[f"{method} {path}" for method, path, _ in CALLS]
)
async def test_a_route_is_open_to_its_scope_and_closed_to_all_others(
    small_office: Office, method: str, path: str, policy: Any
) -> None:
    office = small_office
    office.api.closing.set()  # Streams and long polls end at once.

    async def status(headers: dict[str, str]) -> int:
        office.clock.advance(timedelta(minutes=1))  # A new minute, with new calls to make.
        if method == WS:
            return await handshake(office, path_of(path), headers)
        answer = await office.http.request(
            method, path_of(path), headers=headers, json={} if method != "GET" else None
        )
        return answer.status_code

    if policy.scope is None:
        assert path.startswith(tuple(PUBLIC)), "a route that is open to all is a decision: add it here"
        assert await status({"Authorization": ""}) < 500
        return
    soon = office.clock.now() + timedelta(seconds=1)
    expired = await office.client.keys.create("expired", ["admin"], expires_at=soon)
    revoked = await office.client.keys.create("revoked", ["admin"])
    await office.client.keys.revoke(revoked.key.id)
    assert await status({"Authorization": ""}) == 401
    assert await status({"Authorization": f"Bearer {expired.text}"}) == 401
    assert await status({"Authorization": f"Bearer {revoked.text}"}) == 401
    assert await status({"Authorization": f"Bearer {revoked.text[:-1]}"}) == 401
    for scope in Scope:
        answer = await status(await office.key(scope))
        if (
            scope is Scope.ADMIN
            or scope in (policy.scope, policy.or_scope)
            or (scope, policy.scope) == (Scope.WRITE, Scope.READ)
        ):
            assert answer not in (401, 403)
        else:
            assert answer == 403


async def test_a_websocket_that_asks_for_nonsense_is_told_so(small_office: Office) -> None:
    key = await small_office.key("read")
    assert await handshake(small_office, "/v1/events", key, query=b"types=nonsense") == 400
    assert await handshake(small_office, "/v1/events", key, query=b"typos=job.created") == 400


async def test_a_route_without_a_policy_does_not_mount(small_office: Office) -> None:
    @get("/v1/forgotten")
    async def forgotten() -> None: ...

    with pytest.raises(TypeError, match="forgotten has no policy"):
        application(small_office.api, [*ROUTES, forgotten])


@pytest.mark.parametrize(
    "path", ["/v1/x/livez", "//v1/jobs", "/livez/../v1/jobs", "/v1/jobs/livez", "/livez;/v1/jobs"]
)
async def test_a_path_that_looks_open_is_not(small_office: Office, path: str) -> None:
    answer = await small_office.http.get(path, headers={"Authorization": ""})
    assert answer.status_code in (401, 404)


@pytest.mark.parametrize("method", ["OPTIONS", "PATCH", "TRACE"])
@pytest.mark.parametrize(
    ("path", "offered"),
    [("/v1/jobs", "GET, HEAD, POST"), ("/v1/jobs/x/trigger", "POST"), ("/livez", "GET, HEAD")],
)
async def test_a_method_that_is_not_offered_is_refused_with_those_that_are(
    small_office: Office, method: str, path: str, offered: str
) -> None:
    refused = await small_office.http.request(method, path)
    assert problem(refused) == (405, "METHOD_NOT_ALLOWED")
    assert refused.headers["allow"] == offered


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
async def test_a_plain_request_to_a_websocket_is_told_so(small_office: Office, method: str) -> None:
    refused = await small_office.http.request(method, "/v1/events")
    assert refused.status_code == 426
    assert refused.headers["upgrade"] == "websocket"
    if method != "HEAD":
        assert problem(refused) == (426, "UPGRADE_REQUIRED")


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer  ", "gnm_x", "Bearer gnm_" + "0" * 10_000])
async def test_nonsense_is_no_key(small_office: Office, header: str) -> None:
    answer = await small_office.http.get("/v1/jobs", headers={"Authorization": header})
    assert problem(answer) == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_key_is_made_used_and_revoked(office: Office) -> None:
    made = (await office.http.post("/v1/keys", json={"name": "ci", "scopes": ["read"]})).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert (await office.http.get("/v1/jobs", headers=headers)).status_code == 200
    assert problem(await office.http.post("/v1/jobs", json={"name": "x"}, headers=headers)) == (
        403,
        "FORBIDDEN",
    )

    listed = (await office.http.get("/v1/keys")).json()["keys"]
    assert made["key_id"] in {one["key_id"] for one in listed}
    assert all("key" not in one for one in listed)
    assert (await office.http.delete(f"/v1/keys/{made['key_id']}")).json()["is_valid"] is False

    assert problem(await office.http.get("/v1/jobs", headers=headers)) == (401, "UNAUTHORIZED")


async def test_a_key_that_is_revoked_elsewhere_is_refused_within_seconds(office: Office) -> None:
    new = await office.client.keys.create("ci", ["read"])
    headers = {"Authorization": f"Bearer {new.text}"}
    assert (await office.http.get("/v1/jobs", headers=headers)).status_code == 200
    await office.store.keys.revoke(new.key.tenant_id, new.key.id, now=office.clock.now())

    assert timedelta(seconds=10) > REMEMBERED
    office.clock.advance(REMEMBERED)

    assert (await office.http.get("/v1/jobs", headers=headers)).status_code == 401


async def test_the_store_holds_no_key_that_could_be_used(office: Office) -> None:
    new = await office.client.keys.create("ci", ["read"])
    kept = await office.store.keys.find(new.key.id)
    assert new.text.rpartition("_")[2][:64] not in repr(kept)


async def test_the_first_key_is_made_once(office: Office) -> None:
    assert await office.client.keys.create_first() is None  # The office has one already.


async def test_too_many_calls_are_told_when_to_go_on(small_office: Office) -> None:
    for _ in range(5):
        assert (await small_office.http.get("/v1/jobs")).status_code == 200
    late = await small_office.http.get("/v1/jobs")

    assert problem(late) == (429, "RATE_LIMITED")
    assert 0 < int(late.headers["retry-after"]) <= 60
    small_office.clock.advance(timedelta(minutes=1))
    assert (await small_office.http.get("/v1/jobs")).status_code == 200


async def test_probes_need_no_key(small_office: Office) -> None:
    for path in ("/livez", "/readyz", "/version"):
        assert (await small_office.http.get(path, headers={"Authorization": ""})).status_code == 200


async def test_a_node_is_ready_while_the_oldest_due_time_is_at_most_30_s_old(office: Office) -> None:
    await office.job(interval_seconds=60)
    office.clock.advance(timedelta(seconds=90))

    assert (await office.http.get("/readyz")).status_code == 200


async def test_who_is_not_ready_says_why(office: Office) -> None:
    await office.job(interval_seconds=60)
    office.clock.advance(timedelta(seconds=91))

    answer = await office.http.get("/readyz")

    assert problem(answer) == (503, "SCHEDULER_UNAVAILABLE")
    assert "scheduler" in answer.json()["error"]["details"]["reasons"]


@pytest.mark.parametrize(("service", "check"), [("Scheduler", "scheduler_step"), ("Worker", "claim")])
async def test_who_does_not_get_on_is_not_ready(small_office: Office, service: str, check: str) -> None:
    ages = {service: STEP_AGE_MAX}
    small_office.api.vitals.age = ages.get
    ready = (await small_office.http.get("/readyz")).json()
    assert ready["checks"][check]["note"].endswith("30 s ago")

    ages[service] = STEP_AGE_MAX + timedelta(seconds=1)
    answer = await small_office.http.get("/readyz")

    assert problem(answer) == (503, "SCHEDULER_UNAVAILABLE")
    assert answer.json()["error"]["details"]["reasons"].keys() == {check}


async def test_a_schema_that_does_not_fit_has_a_code_of_its_own_and_is_no_failure_of_a_request(
    small_office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    async def too_new() -> str:
        return "The schema is too new."

    small_office.api.vitals.schema = too_new
    answer = await small_office.http.get("/readyz")

    assert problem(answer) == (503, "SCHEMA_MISMATCH")
    assert answer.json()["error"]["details"]["reasons"] == {"schema": "schema: The schema is too new."}
    assert "a request failed" not in caplog.messages


async def test_a_request_id_is_taken_over_if_it_is_fit_for_a_log(small_office: Office) -> None:
    async def given(text: str) -> str:
        answer = await small_office.http.get("/livez", headers={"X-Request-Id": text})
        return str(answer.headers["x-request-id"])

    assert await given("my-id.1") == "my-id.1"
    assert (await given("bad id")).startswith("req_")
    assert (await given("x" * 200)).startswith("req_")


async def test_a_long_answer_is_compressed_for_who_wants_it(office: Office) -> None:
    for number in range(3):
        await office.job(name=f"job {number}")
    answer = await office.http.get("/v1/jobs", headers={"Accept-Encoding": "gzip"})
    plain = await office.http.get("/v1/jobs", headers={"Accept-Encoding": "identity"})

    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert answer.json() == plain.json()
