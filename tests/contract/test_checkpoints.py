"""Where the next attempt starts from: written only by the one who runs."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import Released
from gnomon.core.executions.records import Checkpoint
from gnomon.core.values.document import Document
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    BOB,
    DONE,
    FAILED,
    HOUR,
    NOW,
    SECOND,
    claim_one,
    end,
    new_id,
    other_tenant,
    running,
    tries,
)


def checkpoint(claim: Claim, page: int, *, progress: float | None = None) -> Checkpoint:
    state = Document.of({"page": page}, field="state")
    return Checkpoint(claim, state, progress, NOW + page * SECOND)


async def loaded(store: Store, claim: Claim) -> Checkpoint | None:
    return (await store.checkpoints.load([claim.execution_id])).get(claim.execution_id)


async def test_a_checkpoint_is_kept_and_replaced_by_the_next(store: Store) -> None:
    leased = await running(store)
    first, second = checkpoint(leased.claim, 1, progress=0.1), checkpoint(leased.claim, 2)

    assert list(await store.checkpoints.save([first])) == [leased.claim]
    assert await loaded(store, leased.claim) == first
    assert list(await store.checkpoints.save([second])) == [leased.claim]

    assert await loaded(store, leased.claim) == second


async def test_the_next_attempt_finds_the_checkpoint_of_the_last(store: Store) -> None:
    leased = await running(store, tries(3))
    saved = checkpoint(leased.claim, 7, progress=1.0)
    await store.checkpoints.save([saved])
    await end(store, leased, FAILED)
    again = await claim_one(store, BOB, now=NOW + HOUR)

    assert await loaded(store, again.claim) == saved


async def test_a_zombie_writes_no_checkpoint(store: Store) -> None:
    zombie = await running(store)
    await store.checkpoints.save([checkpoint(zombie.claim, 1)])
    await end(store, zombie, Released())
    current = await claim_one(store, BOB)
    good = checkpoint(current.claim, 5)

    assert list(await store.checkpoints.save([checkpoint(zombie.claim, 2), good])) == [current.claim]
    assert list(await store.checkpoints.save([checkpoint(zombie.claim, 3)])) == []

    assert await loaded(store, current.claim) == good


async def test_an_ended_execution_takes_no_checkpoint(store: Store) -> None:
    leased = await running(store)
    await end(store, leased, DONE)

    assert list(await store.checkpoints.save([checkpoint(leased.claim, 1)])) == []

    assert await loaded(store, leased.claim) is None


async def test_of_two_checkpoints_in_one_batch_the_later_stays(store: Store) -> None:
    leased = await running(store)
    first, second = checkpoint(leased.claim, 1), checkpoint(leased.claim, 2)

    assert set(await store.checkpoints.save([first, second])) == {leased.claim}

    assert await loaded(store, leased.claim) == second


async def test_executions_without_a_checkpoint_are_missing_from_the_answer(store: Store) -> None:
    leased, other = await running(store), await running(store)
    saved = checkpoint(leased.claim, 1)
    await store.checkpoints.save([saved])

    asked = [leased.claim.execution_id, other.claim.execution_id, ExecutionId(new_id())]

    assert dict(await store.checkpoints.load(asked)) == {leased.claim.execution_id: saved}
    assert dict(await store.checkpoints.load([])) == {}
    assert list(await store.checkpoints.save([])) == []


async def test_how_far_executions_are_is_read_without_their_states(store: Store) -> None:
    told, silent = await running(store), await running(store)
    await store.checkpoints.save([checkpoint(told.claim, 1, progress=0.5), checkpoint(silent.claim, 1)])
    asked = [told.claim.execution_id, silent.claim.execution_id, ExecutionId(new_id())]

    assert dict(await store.executions.progress(DEFAULT_TENANT, asked)) == {told.claim.execution_id: 0.5}
    assert dict(await store.executions.progress(await other_tenant(store), asked)) == {}
