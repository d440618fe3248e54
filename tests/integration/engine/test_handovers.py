"""A worker that ends a task of a workflow gets what follows it with the answer."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.runs.run import RunId
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON
from gnomon.errors import StoreUnavailable
from gnomon.handlers.base import Context
from gnomon.store.protocols.changes import Handover
from tests.contract.flows import Edges, chain, create_dag, start_run, tasks_of
from tests.integration.engine.rig import Rig, WorkerRig


class Counted:
    """How often a verb of executions was asked for."""

    def __init__(self, rig: Rig, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
        self.times = 0
        real = getattr(rig.store.executions, verb)

        async def counted(*given: object, **named: object) -> object:
            self.times += 1
            return await real(*given, **named)

        monkeypatch.setattr(rig.store.executions, verb, counted)


async def begun(rig: Rig, edges: Edges) -> RunId:
    now = rig.clock.now()
    dag = await create_dag(rig.store, tasks_of(edges, kind="test"), now=now)
    return await start_run(rig.store, dag, now=now)


async def status(rig: Rig, run_id: RunId) -> RunStatus:
    return (await rig.store.runs.get(DEFAULT_TENANT, run_id)).status


async def claims_of(rig: Rig, run_id: RunId) -> list[int]:
    tasks = await rig.store.runs.tasks(DEFAULT_TENANT, run_id, limit=100)
    return [(await rig.get(one)).claim for task in tasks for one in task.executions]


def counting(rig: Rig, *, name: str = "ada", slots: int = 4) -> tuple[WorkerRig, list[str]]:
    begun: list[str] = []

    async def body(context: Context) -> JSON:
        begun.append(str(context.execution_id))
        return None

    return rig.worker(body, name=name, slots=slots), begun


@pytest.mark.parametrize("slots", [1, 4])
async def test_a_chain_takes_one_claim(rig: Rig, monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    run_id = await begun(rig, chain(5))
    claims = Counted(rig, monkeypatch, "claim")
    ada, ran = counting(rig, slots=slots)

    await ada.work()
    for _ in range(4):
        await ada.settle()

    assert (await status(rig, run_id), claims.times, len(ran)) == (RunStatus.COMPLETED, 1, 5)
    assert ada.worker.is_empty


async def test_what_was_claimed_with_an_end_is_found_again_when_the_answer_got_lost(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await begun(rig, chain(3))
    ada, ran = counting(rig)
    real, answers = rig.store.executions.apply_and_claim, 0

    async def loses_the_first_answer(*given: object, **named: object) -> Handover:
        nonlocal answers
        answers += 1
        answer = await real(*given, **named)  # type: ignore[arg-type]
        if answers == 1:
            raise StoreUnavailable("the connection broke")
        return answer

    monkeypatch.setattr(rig.store.executions, "apply_and_claim", loses_the_first_answer)
    with suppress(StoreUnavailable):
        await ada.work()
    for _ in range(4):
        await ada.work()

    assert (await status(rig, run_id), len(ran)) == (RunStatus.COMPLETED, 3)
    assert await claims_of(rig, run_id) == [1, 1, 1]
    assert ada.worker.is_empty


async def test_a_worker_does_not_ask_again_while_its_completer_asks(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await begun(rig, {"a": [], "b": ["a"], "c": ["a"]})
    claims = Counted(rig, monkeypatch, "claim")
    ada, ran = counting(rig)
    real = rig.store.executions.apply_and_claim

    async def meanwhile(*given: object, **named: object) -> Handover:
        answer = await real(*given, **named)  # type: ignore[arg-type]
        await ada.worker.step()
        return answer

    monkeypatch.setattr(rig.store.executions, "apply_and_claim", meanwhile)
    await ada.work()
    assert claims.times == 1
    await ada.settle()

    assert (await status(rig, run_id), len(ran)) == (RunStatus.COMPLETED, 3)
    assert await claims_of(rig, run_id) == [1, 1, 1]


async def test_a_worker_that_drains_leaves_what_follows_to_others(rig: Rig) -> None:
    run_id = await begun(rig, chain(2))
    ada, ran = counting(rig)
    bob, _ = counting(rig, name="bob")
    await ada.worker.step()

    ada.worker.stop_claiming()
    await ada.settle()
    await ada.settle()

    assert len(ran) == 1
    await bob.work()
    assert await status(rig, run_id) is RunStatus.COMPLETED
