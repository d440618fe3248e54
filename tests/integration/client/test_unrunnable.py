"""Work that is due and that no live worker can run is counted, by what the workers lack."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from gnomon.client import Ask, Draft
from gnomon.core.executions.execution import ExecutionId, Failure, WorkerId
from gnomon.core.executions.lease import ClaimRequest
from gnomon.core.executions.lifecycle import Snoozed
from gnomon.core.explain.unrunnable import Lack
from gnomon.core.jobs.job import Definition
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document
from gnomon.engine.workers.attempts import NOT_HERE
from gnomon.health.metrics import Metrics
from tests.integration.client.conftest import LEASE, Office

TOLD = "No function named 'daily' is registered on this worker."
TURNED_AWAY = Snoozed(NOT_HERE, has_started=False, failure=Failure("not_here", TOLD))
ECHO = frozenset({"echo"})


async def enqueue(office: Office, definition: Definition, *, times: int = 1) -> list[ExecutionId]:
    job = await office.client.jobs.create(Draft(str(uuid4()), definition))
    return [(await office.client.executions.enqueue(Ask(job.id))).id for _ in range(times)]


async def register(office: Office, name: str, kinds: frozenset[str] = ECHO, **more: Any) -> None:
    worker = Registration(WorkerId(name), uuid4(), "host", 5, kinds, **more)
    await office.store.workers.register(worker, now=office.clock.now())


async def turn_away(office: Office, worker: str) -> None:
    now = office.clock.now()
    request = ClaimRequest(office.ids.next(now), WorkerId(worker), frozenset({"python"}), limit=100)
    for leased in await office.store.executions.claim(request, now=now, lease_until=now + LEASE):
        await office.end(leased, TURNED_AWAY)


async def lacks(office: Office) -> dict[Lack, int]:
    now = office.clock.now()
    found = await office.store.reports.unrunnable.find(now=now, due_before=now)
    return {one.lack: one.count for one in found}


@pytest.mark.parametrize(
    ("definition", "lack", "told"),
    [
        (Definition("htpp"), Lack.KIND, "the kind 'htpp'"),
        (Definition("echo", queue="slow"), Lack.QUEUE, "the queue 'slow'"),
        (Definition("echo", capabilities=frozenset({"gpu"})), Lack.CAPABILITY, "the capability 'gpu'"),
        (Definition("echo", capabilities=frozenset({"big"})), Lack.TOGETHER, "all that it needs at once"),
    ],
)
async def test_what_no_live_worker_has_is_named_and_counted(
    office: Office, definition: Definition, lack: Lack, told: str
) -> None:
    await register(office, "ada")
    await register(office, "bob", frozenset({"mail"}), capabilities=frozenset({"big"}))
    ids = await enqueue(office, definition, times=3)
    await enqueue(office, Definition("echo"))

    now = office.clock.now()
    [stuck] = await office.store.reports.unrunnable.find(now=now, due_before=now)

    assert (stuck.lack, stuck.count, stuck.first) == (lack, 3, ids[0])
    assert stuck.told == f"No live worker has {told}."
    assert await office.store.reports.unrunnable.find(now=now, due_before=now - LEASE) == []


async def test_without_a_live_worker_nothing_can_run_but_runs_of_workflows(office: Office) -> None:
    await enqueue(office, Definition("echo"), times=2)
    await office.client.dags.create({"name": "flow", "tasks": [{"name": "a", "kind": "echo"}]})
    await register(office, "ada")
    assert await lacks(office) == {}
    office.clock.advance(timedelta(minutes=2))  # The worker is silent for too long.
    assert await lacks(office) == {Lack.WORKER: 2}


async def test_a_function_counts_once_every_worker_that_fits_turned_it_away(office: Office) -> None:
    payload = Document.of({"function": "daily"}, field="payload")
    for name in ("ada", "bob"):
        await register(office, name, frozenset({"python"}))
    await enqueue(office, Definition("python", payload), times=3)

    await turn_away(office, "ada")
    assert await lacks(office) == {}  # The other one may have it.
    office.clock.advance(NOT_HERE)
    await turn_away(office, "bob")

    assert await lacks(office) == {Lack.FUNCTION: 3}
    now = office.clock.now()
    text = Metrics().text(await office.store.reports.now(now), now=now).decode()
    assert 'gnomon_unrunnable_executions{lacks="function"} 3.0' in text
    assert 'gnomon_unrunnable_executions{lacks="kind"} 0.0' in text
    office.clock.advance(NOT_HERE / 2)
    await register(office, "bob", frozenset({"python"}))  # Started anew, perhaps with the function.
    assert await lacks(office) == {}
