"""The life of an attempt in a worker, stepped by hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus, Failure
from gnomon.core.executions.lease import LEASE, Claim, Leased
from gnomon.core.jobs.job import Definition, Delivery
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import JSON, Document
from gnomon.engine.telemetry import What
from gnomon.engine.workers.attempts import NOT_HERE, STOP_GRACE, states_of
from gnomon.engine.workers.notebook import Capture
from gnomon.errors import LeaseLost, StoreUnavailable
from gnomon.handlers.base import Context, NotHere
from gnomon.store.protocols.changes import Applied
from gnomon.store.protocols.executions import CheckpointStore
from tests.integration.engine.rig import Rig

PLAIN = Definition(kind="test")


async def done(context: Context) -> JSON:
    return {"attempt": context.attempt}


async def for_ever(context: Context) -> JSON:
    await asyncio.Event().wait()
    return None


async def test_what_a_handler_returns_is_the_result(rig: Rig) -> None:
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.work()

    ended = await rig.get(run)
    assert ended.status is ExecutionStatus.COMPLETED
    assert ended.result == Document('{"attempt": 1}')


async def test_a_worker_takes_no_more_than_it_has_slots(rig: Rig) -> None:
    ada = rig.worker(for_ever, slots=2)
    job = await rig.job(PLAIN)
    for _ in range(3):
        await rig.enqueue(job)

    assert await ada.worker.step() == timedelta(0)
    assert await ada.worker.step() > timedelta(0)

    assert ada.worker.running == 2


async def test_a_kind_that_no_worker_has_waits_and_costs_nothing(rig: Rig) -> None:
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(Definition(kind="fax")))

    await ada.work()

    waiting = await rig.get(run)
    assert (waiting.status, waiting.claim) == (ExecutionStatus.QUEUED, 0)


async def test_a_failure_is_retried_after_its_backoff_and_then_dead_lettered(rig: Rig) -> None:
    async def fails(context: Context) -> JSON:
        raise ValueError("no")

    ada = rig.worker(fails)
    run = await rig.enqueue(await rig.job(Definition(kind="test", retry=RetryPolicy(max_attempts=2))))

    await ada.work()
    assert (await rig.get(run)).status is ExecutionStatus.PENDING
    rig.clock.advance(timedelta(minutes=2))
    await ada.work()

    dead = await rig.store.dead_letters.get(DEFAULT_TENANT, run)
    assert dead.failure is not None
    assert (dead.failure.kind, dead.failure.message, dead.attempts) == ("ValueError", "no", 2)
    assert ada.telemetry.counts[What.RETRIED] == 1
    assert ada.telemetry.counts[What.FAILED] == 1


async def test_a_permanent_failure_is_not_retried(rig: Rig) -> None:
    async def fails(context: Context) -> JSON:
        context.fail("never", kind="hopeless", permanent=True)

    ada = rig.worker(fails)
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.work()

    ended = await rig.get(run)
    assert ended.status is ExecutionStatus.FAILED
    assert ended.attempts == 1


async def test_a_snooze_costs_no_attempt(rig: Rig) -> None:
    async def sleepy(context: Context) -> JSON:
        if context.claim == 1:
            context.snooze(timedelta(seconds=30))
        return context.attempt

    ada = rig.worker(sleepy)
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.work()
    rig.clock.advance(timedelta(seconds=30))
    await ada.work()

    ended = await rig.get(run)
    assert ended.result == Document("1")
    assert (ended.claim, ended.attempts) == (2, 1)


async def test_a_worker_that_lacks_something_leaves_the_execution_to_others(rig: Rig) -> None:
    async def not_here(context: Context) -> JSON:
        raise NotHere("no such function")

    ada, bob = rig.worker(not_here), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.work()
    waiting = await rig.get(run)
    assert (waiting.attempts, waiting.failure) == (0, Failure("not_here", "no such function"))
    rig.clock.advance(NOT_HERE)
    await bob.work()

    ended = await rig.get(run)
    assert (ended.status, ended.attempts) == (ExecutionStatus.COMPLETED, 1)


async def test_what_runs_at_most_once_and_is_not_here_may_still_run_elsewhere(rig: Rig) -> None:
    async def not_here(context: Context) -> JSON:
        raise NotHere("no such function")

    ada, bob = rig.worker(not_here), rig.worker(done, name="bob")
    once = Definition(kind="test", delivery=Delivery.AT_MOST_ONCE)
    run = await rig.enqueue(await rig.job(once))

    await ada.work()
    rig.clock.advance(NOT_HERE)
    await bob.work()

    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
async def test_a_handler_cannot_end_the_worker(rig: Rig, error: type[BaseException]) -> None:
    async def exits(context: Context) -> JSON:
        raise error

    ada = rig.worker(exits)
    run = await rig.enqueue(await rig.job(Definition(kind="test", retry=RetryPolicy(max_attempts=1))))

    await ada.work()

    ended = await rig.get(run)
    assert ended.failure is not None
    assert (ended.status, ended.failure.kind) == (ExecutionStatus.FAILED, error.__name__)


async def test_a_result_that_is_not_json_ends_as_a_failure_that_says_so(rig: Rig) -> None:
    async def odd(context: Context) -> JSON:
        return {"when": {1, 2}}  # type: ignore[dict-item]

    ada = rig.worker(odd)
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.work()

    ended = await rig.get(run)
    assert ended.failure is not None
    assert ended.failure.kind == "bad_result"
    assert "result.when" in ended.failure.message


async def test_an_attempt_that_takes_too_long_is_stopped(rig: Rig) -> None:
    stopped = asyncio.Event()

    async def slow(context: Context) -> JSON:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return None

    ada = rig.worker(slow)
    definition = Definition(kind="test", timeout=timedelta(milliseconds=1), retry=RetryPolicy(max_attempts=1))
    run = await rig.enqueue(await rig.job(definition))

    await ada.worker.step()
    await asyncio.wait_for(stopped.wait(), 5)
    await ada.settle()

    assert (await rig.get(run)).status is ExecutionStatus.TIMEOUT


async def test_a_cancel_reaches_a_running_attempt_with_the_next_heartbeat(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    await rig.store.executions.cancel(DEFAULT_TENANT, [run], now=rig.clock.now())

    await ada.heartbeat.step()
    await ada.settle()

    assert (await rig.get(run)).status is ExecutionStatus.CANCELLED
    assert ada.worker.running == 0


def told(caplog: pytest.LogCaptureFixture, message: str) -> list[dict[str, object]]:
    return [vars(record) for record in caplog.records if record.message == message]


async def test_a_worker_that_lost_its_lease_stops_and_writes_nothing(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    ada, bob = rig.worker(for_ever), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    rig.clock.advance(LEASE + timedelta(seconds=1))
    await rig.reap()
    rig.clock.advance(timedelta(minutes=2))
    await bob.work()

    await ada.heartbeat.step()
    await ada.settle()

    assert ada.worker.running == 0
    assert ada.telemetry.counts[What.LOST] == 1
    assert (await rig.get(run)).worker == "bob"
    [line] = told(caplog, "lease lost; attempt stopped")
    assert (line["execution"], line["claim"]) == (str(run), 1)


async def test_a_late_result_is_refused_and_counted(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    gate = asyncio.Event()

    async def late(context: Context) -> JSON:
        await gate.wait()
        return "late"

    ada, bob = rig.worker(late), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    rig.clock.advance(LEASE + timedelta(seconds=1))
    await rig.reap()
    rig.clock.advance(timedelta(minutes=2))
    await bob.work()

    gate.set()
    await ada.settle()

    assert ada.telemetry.counts[What.REFUSED] == 1
    assert (await rig.get(run)).result == Document('{"attempt": 2}')
    [line] = told(caplog, "late result refused")
    assert (line["execution"], line["claim"]) == (str(run), 1)


async def test_renewals_keep_a_long_attempt_from_the_reaper(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()

    for _ in range(9):
        rig.clock.advance(await ada.heartbeat.step())
        await rig.reap()

    assert (await rig.get(run)).status is ExecutionStatus.RUNNING


async def test_the_next_attempt_starts_from_the_checkpoint(rig: Rig) -> None:
    async def counts(context: Context) -> JSON:
        reached = context.state or 0
        assert isinstance(reached, int)
        await context.checkpoint(reached + 1, progress=0.5)
        if context.attempt == 1:
            raise RuntimeError("half way")
        return context.state

    ada = rig.worker(counts)
    run = await rig.enqueue(await rig.job(PLAIN))

    await ada.worker.step()
    await ada.settle()
    await ada.settle()
    rig.clock.advance(timedelta(minutes=2))
    await ada.worker.step()
    await ada.settle()
    await ada.settle()

    assert (await rig.get(run)).result == Document("1")


async def test_a_checkpoint_after_the_lease_was_lost_says_so(rig: Rig) -> None:
    gate, told = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def late(context: Context) -> JSON:
        await gate.wait()
        try:
            await context.checkpoint({"n": 1})
        except LeaseLost as error:
            told.set_result(error.claim)
        return None

    ada = rig.worker(late)
    await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    rig.clock.advance(LEASE + timedelta(seconds=1))
    await rig.reap()

    gate.set()
    await ada.settle()
    await ada.settle()

    assert told.result() == 1


async def test_what_a_handler_logs_is_kept_with_its_execution(rig: Rig) -> None:
    async def talks(context: Context) -> JSON:
        context.log.info("hello %s", "world")
        logging.getLogger("shop").warning("two\nlines")
        return None

    ada = rig.worker(talks)
    run = await rig.enqueue(await rig.job(PLAIN))
    capture, root = Capture(ada.notebook), logging.getLogger()
    logging.getLogger("gnomon.job").setLevel(logging.DEBUG)
    root.addHandler(capture)
    try:
        await ada.work()
    finally:
        root.removeHandler(capture)

    lines = await rig.store.logs.read(DEFAULT_TENANT, run, limit=10)
    assert [line.message for line in lines] == ["hello world", "two", "lines"]


async def test_a_drain_gives_back_without_charge_what_does_not_end(rig: Rig) -> None:
    ada, bob = rig.worker(for_ever), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()

    ada.worker.stop_claiming()
    ada.worker.stop_running()
    await ada.settle()
    await bob.work()

    ended = await rig.get(run)
    assert (ended.status, ended.worker, ended.attempts) == (ExecutionStatus.COMPLETED, "bob", 1)
    attempts = await rig.store.executions.attempts(DEFAULT_TENANT, run)
    assert [one.outcome for one in attempts] == [AttemptOutcome.RELEASED, AttemptOutcome.COMPLETED]


async def test_an_attempt_that_is_stopped_before_it_began_has_not_started(rig: Rig) -> None:
    """At most once: only what has not started may run elsewhere."""
    ada, bob = rig.worker(for_ever), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(Definition(kind="test", delivery=Delivery.AT_MOST_ONCE)))
    await ada.worker.step()

    ada.worker.stop_running()
    await ada.settle()
    await bob.work()

    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED


async def test_an_attempt_at_most_once_that_was_abandoned_is_never_run_again(rig: Rig) -> None:
    ada, bob = rig.worker(for_ever), rig.worker(done, name="bob")
    run = await rig.enqueue(await rig.job(Definition(kind="test", delivery=Delivery.AT_MOST_ONCE)))
    await ada.worker.step()
    rig.clock.advance(LEASE + timedelta(seconds=1))

    await rig.reap()
    rig.clock.advance(timedelta(hours=1))
    await bob.work()

    assert (await rig.get(run)).status is ExecutionStatus.FAILED
    assert (await rig.store.dead_letters.get(DEFAULT_TENANT, run)).reason == "abandoned"


async def test_a_claim_whose_answer_got_lost_is_found_again(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(PLAIN))
    claim = rig.store.executions.claim
    answers = 0

    async def loses_the_first_answer(*given: object, **named: object) -> object:
        nonlocal answers
        answers += 1
        answer = await claim(*given, **named)  # type: ignore[arg-type]
        if answers == 1:
            raise StoreUnavailable("the connection broke")
        return answer

    rig.store.executions.claim = loses_the_first_answer  # type: ignore[method-assign, assignment]
    with suppress(StoreUnavailable):
        await ada.worker.step()
    await ada.work()

    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED
    assert (await rig.get(run)).claim == 1
    [line] = told(caplog, "claim answered again")
    assert line["executions"] == 1


async def test_a_handler_that_does_not_stop_keeps_its_slot_but_not_its_execution(rig: Rig) -> None:
    gate = asyncio.Event()

    async def stubborn(context: Context) -> JSON:
        while not gate.is_set():
            try:
                await gate.wait()
            except asyncio.CancelledError:
                continue
        return None

    ada = rig.worker(stubborn)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    await asyncio.sleep(0)
    [attempt] = ada.worker._attempts.values()
    ada.worker.stop_running()
    await asyncio.sleep(0)

    attempt._give_up()  # What its alarm does after STOP_GRACE.
    await ada.settle()

    assert timedelta(0) < STOP_GRACE
    assert ada.worker.running == 1
    assert (await rig.get(run)).status is ExecutionStatus.QUEUED
    gate.set()
    await ada.settle()
    assert ada.worker.running == 0


async def test_a_claim_whose_answer_took_as_long_as_its_lease_is_given_back_not_started(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))

    async def slowly(leased: Sequence[Leased], checkpoints: CheckpointStore) -> Mapping[Claim, Document]:
        rig.clock.advance(LEASE * 0.8)
        return await states_of(leased, checkpoints)

    monkeypatch.setattr("gnomon.engine.workers.worker.states_of", slowly)
    await ada.work()

    given_back = await rig.get(run)
    assert ada.worker.running == 0
    assert given_back.status is ExecutionStatus.QUEUED
    assert (given_back.claim, given_back.attempts) == (1, 0)


async def test_a_checkpoint_whose_handler_was_stopped_does_not_hold_up_the_others(rig: Rig) -> None:
    kept: list[str] = []

    async def saving(context: Context) -> JSON:
        await context.checkpoint("here")
        kept.append(str(context.execution_id))
        return None

    ada = rig.worker(saving)
    job = await rig.job(PLAIN)
    stopped, other = await rig.enqueue(job), await rig.enqueue(job)
    await ada.worker.step()
    await asyncio.sleep(0)
    [first] = [claim for claim in ada.worker.claims() if claim.execution_id == stopped]
    ada.worker.cancel([first])
    for _ in range(5):
        await asyncio.sleep(0)
    await ada.settle()
    await ada.settle()

    assert kept == [str(other)]
    assert (await rig.get(other)).status is ExecutionStatus.COMPLETED


async def test_a_heartbeat_without_an_answer_is_given_up_long_before_the_lease_runs_out(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()

    async def silence(*_: object, **__: object) -> NoReturn:
        await asyncio.Event().wait()
        raise AssertionError

    ada.heartbeat._executions = SimpleNamespace(renew=silence)
    ada.heartbeat._lease = timedelta(seconds=0.03)

    with pytest.raises(StoreUnavailable, match="no answer"):
        await ada.heartbeat.step()


async def test_what_has_ended_is_held_until_it_is_written(rig: Rig) -> None:
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(PLAIN))
    await ada.worker.step()
    for _ in range(5):
        await asyncio.sleep(0)

    assert ada.worker.running == 0
    assert [claim.execution_id for claim in ada.worker.claims()] == [run]
    await ada.settle()
    assert ada.worker.claims() == []


async def test_what_is_granted_to_a_worker_that_leaves_is_given_back(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = rig.worker(for_ever)
    run = await rig.enqueue(await rig.job(PLAIN))

    async def meanwhile(leased: Sequence[Leased], checkpoints: CheckpointStore) -> Mapping[Claim, Document]:
        ada.worker.stop_claiming()
        return await states_of(leased, checkpoints)

    monkeypatch.setattr("gnomon.engine.workers.worker.states_of", meanwhile)
    await ada.work()

    given_back = await rig.get(run)
    assert given_back.status is ExecutionStatus.QUEUED
    assert (given_back.claim, given_back.attempts) == (1, 0)


async def test_a_worker_that_leaves_asks_for_nothing_and_holds_on_to_what_runs(rig: Rig) -> None:
    ada = rig.worker(for_ever)
    job = await rig.job(PLAIN)
    running = await rig.enqueue(job)
    await ada.worker.step()
    waiting = await rig.enqueue(job)

    ada.worker.stop_claiming()
    await ada.worker.step()

    assert [claim.execution_id for claim in ada.worker.claims()] == [running]
    assert (await rig.get(waiting)).claim == 0


async def test_an_outcome_that_could_not_be_written_is_written_later(rig: Rig) -> None:
    ada = rig.worker(done)
    run = await rig.enqueue(await rig.job(PLAIN))
    apply, calls = rig.store.executions.apply, []

    async def gone_at_first(*args: Any, **kwargs: Any) -> Sequence[Applied]:
        calls.append(args)
        if len(calls) == 1:
            raise StoreUnavailable("gone")
        return await apply(*args, **kwargs)

    ada.completer._executions = SimpleNamespace(apply=gone_at_first)
    with pytest.raises(StoreUnavailable):
        await ada.work()
    assert list(ada.worker.claims())

    await ada.settle()

    assert ada.worker.is_empty
    assert (await rig.get(run)).status is ExecutionStatus.COMPLETED
