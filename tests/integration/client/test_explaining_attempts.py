"""What the attempts of an execution say about why it waits, or why it ended without success."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from gnomon.client import Ask, Draft
from gnomon.core.executions.execution import ExecutionId, Failure, WorkerId
from gnomon.core.executions.lease import ClaimRequest, Leased
from gnomon.core.executions.lifecycle import Cancelled, Failed, Snoozed, TimedOut
from gnomon.core.explain.obstacles import Obstacle, Reason
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import Backoff, RetryPolicy
from gnomon.core.operations.workers import Registration
from gnomon.core.values.document import Document
from gnomon.core.values.instants import instant_text
from gnomon.engine.workers.attempts import NOT_HERE
from tests.integration.client.conftest import LEASE, Office

SECOND = timedelta(seconds=1)
LACKS = Failure("not_here", "No function named 'daily' is registered on this worker.")
TURNED_AWAY = Snoozed(NOT_HERE, has_started=False, failure=LACKS)
POLICY = RetryPolicy(max_attempts=3, backoff=Backoff.FIXED, backoff_base=timedelta(seconds=60), jitter=0)


async def enqueued(office: Office, kind: str = "report", **more: object) -> ExecutionId:
    payload = Document.of({"function": "daily"}, field="payload")
    definition = Definition(kind, payload, retry=POLICY, **more)  # type: ignore[arg-type]
    job = await office.client.jobs.create(Draft(f"job {office.ids.next(office.clock.now())}", definition))
    return (await office.client.executions.enqueue(Ask(job.id))).id


async def register(office: Office, *names: str, kind: str = "python") -> None:
    for name in names:
        worker = Registration(WorkerId(name), uuid4(), "host", 5, frozenset({kind}))
        await office.store.workers.register(worker, now=office.clock.now())


async def claimed_by(office: Office, worker: str, kind: str = "python") -> Leased:
    now = office.clock.now()
    request = ClaimRequest(office.ids.next(now), WorkerId(worker), frozenset({kind}), limit=1)
    [leased] = await office.store.executions.claim(request, now=now, lease_until=now + LEASE)
    return leased


async def reasons(office: Office, execution_id: ExecutionId) -> tuple[Reason, ...]:
    return (await office.client.explaining.execution(execution_id)).reasons


async def test_a_function_that_no_worker_has_is_named_with_who_was_asked(
    office: Office,
) -> None:
    run = await enqueued(office, "python")
    await register(office, "ada", "bob")
    await office.end(await claimed_by(office, "ada"), TURNED_AWAY)
    due = instant_text(office.clock.now() + NOT_HERE)

    [reason] = await reasons(office, run)

    assert reason.code is Obstacle.NO_FUNCTION
    assert reason.message == (
        f"The function 'daily' is not registered on ada. It is offered again at {due}, perhaps to bob. "
        "Start a worker whose app registers it (gnomon worker --app), or mend the name in the job."
    )
    assert reason.details == {
        "function": "daily",
        "error": {"kind": "not_here", "message": LACKS.message},
        "asked": ["ada"],
        "not_asked": ["bob"],
        "due": due,
    }
    seen = await office.client.executions.get(run)
    assert (seen.attempts, seen.failure) == (0, LACKS)  # Free of charge, and shown wherever errors are.


async def test_it_is_told_that_every_worker_was_asked_also_when_it_is_due_again(office: Office) -> None:
    run = await enqueued(office, "python")
    await register(office, "ada", "bob")
    for worker in ("ada", "bob"):
        await office.end(await claimed_by(office, worker), TURNED_AWAY)
        office.clock.advance(NOT_HERE)

    [reason] = await reasons(office, run)
    assert reason.message.startswith(
        "The function 'daily' is not registered on ada, bob. It is offered again every ten seconds, to the "
        "same workers: no other one fits."
    )
    await register(office, "bob")  # It was started anew, and may have the function now.
    assert await reasons(office, run) == ()


async def test_a_retry_that_waits_tells_the_error_and_which_attempt_it_was(office: Office) -> None:
    run = await enqueued(office)
    await register(office, "ada", kind="report")
    await office.end(await claimed_by(office, "ada", "report"), Failed(Failure("ValueError", "no\nrows")))
    due = instant_text(office.clock.now() + 60 * SECOND)

    [reason] = await reasons(office, run)

    assert reason.code is Obstacle.RETRY_BACKOFF
    assert reason.message == (
        "Attempt 1 of 3 failed (ValueError: no rows). Its retry policy waits: the next attempt begins at "
        f"{due}. Its log says more; to give it up, cancel it."
    )
    assert reason.details == {
        "due": due,
        "attempt": 1,
        "max_attempts": 3,
        "error": {"kind": "ValueError", "message": "no\nrows"},
    }
    office.clock.advance(60 * SECOND)
    await register(office, "ada", kind="report")
    assert await reasons(office, run) == ()
    await office.end(await claimed_by(office, "ada", "report"), TimedOut())
    [reason] = await reasons(office, run)
    assert reason.message.startswith("Attempt 2 of 3 ran too long (timeout: ")


async def test_what_its_handler_put_off_says_so(office: Office) -> None:
    run = await enqueued(office)
    await register(office, "ada", kind="report")
    await office.end(await claimed_by(office, "ada", "report"), Snoozed(5 * SECOND))

    [reason] = await reasons(office, run)

    assert (reason.code, reason.details) == (
        Obstacle.SNOOZED,
        {"due": instant_text(office.clock.now() + 5 * SECOND)},
    )


async def test_what_failed_for_good_says_why_and_what_helps(office: Office) -> None:
    run, other = await enqueued(office), await enqueued(office)
    await office.end(
        await claimed_by(office, "ada", "report"), Failed(Failure("boom", "No."), permanent=True)
    )
    await office.end(await claimed_by(office, "ada", "report"), Cancelled())

    [reason] = await reasons(office, run)

    assert reason.code is Obstacle.FAILED
    assert reason.message == (
        "It ended as FAILED after attempt 1 of 3 (boom: No.). It does not run again by itself. "
        "Mend what failed, then redrive it: gnomon dlq redrive."
    )
    assert [one.code for one in await reasons(office, other)] == [Obstacle.ENDED]
