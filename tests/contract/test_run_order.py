"""What follows in a run is not before what it follows, whichever process writes it, and by which clock."""

from __future__ import annotations

from datetime import datetime

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import Execution, ExecutionId
from gnomon.core.runs.order import BEHIND_MAX
from gnomon.core.runs.state import RunStatus
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract import given
from tests.contract.flows import all_tasks, begun, claimed, finish, run_of
from tests.contract.given import DONE, HOUR, NOW, SECOND, claim, decided, request

JOIN = {"a": [], "b": [], "c": ["a", "b"]}


async def execution_of(flows: WorkflowStore, id: ExecutionId) -> Execution:
    return await flows.executions.get(DEFAULT_TENANT, id, now=NOW + HOUR)


async def ended_at(flows: WorkflowStore, *ids: ExecutionId) -> datetime:
    ends = [(await execution_of(flows, one)).finished_at for one in ids]
    return max(end for end in ends if end is not None)


async def test_a_task_begins_after_all_its_parents_though_the_last_to_write_is_behind(
    flows: WorkflowStore,
) -> None:
    run_id = await begun(flows, JOIN)
    first = await claimed(flows, run_id)
    ids = [first[name].claim.execution_id for name in "ab"]
    await finish(flows, first["a"], now=NOW + 2 * SECOND)
    await finish(flows, first["b"], now=NOW + SECOND)

    assert await claim(flows, now=NOW + SECOND) == []
    [last] = await claim(flows, now=NOW + 2 * SECOND)
    began = (await execution_of(flows, last.claim.execution_id)).started_at
    await finish(flows, last, now=NOW + SECOND)

    assert began is not None
    assert began >= await ended_at(flows, *ids)
    run = await run_of(flows, run_id)
    assert (run.status, run.finished_at) == (
        RunStatus.COMPLETED,
        await ended_at(flows, last.claim.execution_id),
    )
    for task in await all_tasks(flows, run_id):
        assert task.started_at is not None
        assert task.finished_at is not None
        assert task.started_at <= task.finished_at


@pytest.mark.parametrize("limit", [1, 10])
async def test_a_task_that_is_handed_over_begins_after_all_its_parents(
    flows: WorkflowStore, limit: int
) -> None:
    """With room for one, by the statement for many; with room for more, by that of plain values."""
    run_id = await begun(flows, JOIN)
    first = await claimed(flows, run_id)
    ids = [first[name].claim.execution_id for name in "ab"]
    await claim(flows, now=NOW)  # In vain: then it is known that nobody waits.
    for name, now in (("a", NOW + 2 * SECOND), ("b", NOW + SECOND)):
        decision = decided(first[name], DONE, now=now)._replace(in_run=True)
        wanted = request(given.ADA, limit=limit)
        done = await flows.executions.apply_and_claim([decision], wanted, now=now, lease_until=NOW + HOUR)

    [last] = done.leased or await claim(flows, now=NOW + 2 * SECOND)
    began = (await execution_of(flows, last.claim.execution_id)).started_at

    assert began is not None
    assert began >= await ended_at(flows, *ids)


async def test_a_run_does_not_wait_for_a_clock_that_was_set_back(flows: WorkflowStore) -> None:
    run_id = await begun(flows, JOIN)
    first = await claimed(flows, run_id)
    await finish(flows, first["a"], now=NOW + BEHIND_MAX + 2 * SECOND)
    await finish(flows, first["b"], now=NOW + SECOND)

    assert len(await claim(flows, now=NOW + SECOND)) == 1
