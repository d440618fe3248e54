"""How much of a tenant may run at once: set by an administrator, kept by every claim, told by explain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.integration.api.conftest import Office


@pytest.fixture(autouse=True)
async def lift_it_again(office: Office) -> AsyncIterator[None]:
    yield
    await office.http.put("/v1/tenant", json={"max_concurrent": None})


async def test_a_limit_is_set_kept_and_lifted(office: Office) -> None:
    assert (await office.http.get("/v1/tenant")).json()["max_concurrent"] is None

    changed = await office.http.put("/v1/tenant", json={"max_concurrent": 2})

    assert (changed.status_code, changed.json()["max_concurrent"]) == (200, 2)
    assert (await office.http.get("/v1/tenant")).json() == changed.json()
    await office.http.put("/v1/tenant", json={"max_concurrent": None})
    assert (await office.http.get("/v1/tenant")).json()["max_concurrent"] is None


@pytest.mark.parametrize(
    "form", [{}, {"max_concurrent": 0}, {"max_concurrent": 2**31}, {"max_concurrent": "2"}]
)
async def test_a_limit_that_is_none_is_refused(office: Office, form: dict[str, object]) -> None:
    answer = await office.http.put("/v1/tenant", json=form)

    assert answer.status_code == 400
    assert "max_concurrent" in answer.json()["error"]["message"]
    assert (await office.http.get("/v1/tenant")).json()["max_concurrent"] is None


async def test_who_waits_for_the_limit_is_told_and_counted(office: Office) -> None:
    await office.http.put("/v1/tenant", json={"max_concurrent": 2})
    job = await office.job(name="wide")
    runs = [(await office.run(job["job_id"]))["execution_id"] for _ in range(3)]
    assert len(await office.claim()) == 2

    explained = (await office.http.get(f"/v1/executions/{runs[2]}/explain")).json()
    reason = next(one for one in explained["reasons"] if one["code"] == "tenant_limit")
    assert reason["details"] == {"running": 2, "limit": 2}
    text = (await office.http.get("/metrics")).text
    assert 'gnomon_tenant_share_received_ratio{tenant="default"} 1.0' in text
    office.clock.advance(timedelta(seconds=5))
    assert (
        'gnomon_limit_blocked_seconds_total{limit="tenant"} 5.0' in (await office.http.get("/metrics")).text
    )
