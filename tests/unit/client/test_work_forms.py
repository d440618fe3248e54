"""A worker decides and tells the outcome; its server decides again. Both must come to the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api.forms.lease_forms import lease_answer, line_of
from gnomon.api.forms.outcome_forms import outcome_of
from gnomon.client.executions.leases import Handed
from gnomon.client.remote.line import BATCH_BYTES_MAX, ITEMS_MAX, batches
from gnomon.client.remote.work_forms import (
    ClaimedRead,
    WorkerRead,
    completion_form,
    leased_of,
    line_form,
    revision_of,
)
from gnomon.client.remote.worker_protocol import (
    CompleteAnswer,
    Completion,
    KeptAnswer,
    Lease,
    LineOne,
    RenewAnswer,
)
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import Failure, WorkerId
from gnomon.core.executions.lease import Leased
from gnomon.core.executions.lifecycle import (
    Cancelled,
    Failed,
    Outcome,
    Released,
    Snoozed,
    Succeeded,
    TimedOut,
    after,
)
from gnomon.core.executions.records import LogLevel, LogLine
from gnomon.core.jobs.job import Delivery
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import Document
from tests.unit.core.builders import NOON, leased

WAITS = st.integers(0, 700_000).map(lambda seconds: timedelta(seconds=seconds))
FAILURES = st.builds(Failure, st.sampled_from(["bad", "worse"]), st.text(min_size=1, max_size=5))
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.sampled_from([Succeeded(), Succeeded(Document('{"ü":[1,null]}')), TimedOut(), Cancelled()]),
    st.builds(Failed, FAILURES, st.booleans(), st.none() | WAITS),
    st.builds(Snoozed, WAITS, st.booleans(), st.none() | FAILURES),
    st.builds(Released, st.booleans()),
)
LEASES = st.builds(
    leased,
    retry=st.builds(RetryPolicy, st.integers(1, 4), retry_on=st.sampled_from([None, frozenset({"bad"})])),
    delivery=st.sampled_from(Delivery),
    timeout=st.sampled_from([None, timedelta(seconds=9)]),
    attempts=st.integers(0, 4),
    cancel_requested=st.booleans(),
)

# The fields of the answers of the first servers that workers could reach over HTTP.
FIRST_LEASE = (
    "execution_id claim tenant_id job_id revision attempt_number attempts crashes max_attempts kind payload "
    "input has_input checkpoint has_checkpoint queue capabilities priority timeout_seconds max_concurrent "
    "delivery retry_policy schedule scheduled_time nominal_time due started_at lease_until cancel_requested"
)
FIRST_ANSWERS: list[tuple[str, type]] = [
    ('{"renewed":[{PAIR,"lease_until":TIME,"command":null}],"lost":[],"server_time":TIME}', RenewAnswer),
    ('{"results":[{PAIR,"answer":"applied","replayed":false,"status":"COMPLETED"}]}', CompleteAnswer),
    ('{"kept":[{PAIR}],"lost":[{PAIR}]}', KeptAnswer),
    (
        (
            '{"worker_id":"ada","boot":"0198c5a2-0000-7000-8000-000000000001","status":"ACTIVE","is_live":true,'
            '"hostname":"host","capacity":1,"current_jobs":0,"kinds":[],"queues":[],"capabilities":[],'
            '"registered_at":TIME,"last_heartbeat":TIME,"command":null,"lease_seconds":20,"server_time":TIME}'
        ),
        WorkerRead,
    ),
]
PAIR = '"execution_id":"0198c5a2-0000-7000-8000-000000000001","claim":1'
TIME = '"2026-03-01T00:00:00Z"'


@given(LEASES, OUTCOMES, st.floats(0, 1, exclude_max=True))
def test_what_is_told_of_a_decision_leads_to_the_same_decision(
    lease: Leased, outcome: Outcome, jitter: float
) -> None:
    decided = after(lease, outcome, now=NOON, jitter=jitter)
    sent = msgspec.json.encode(completion_form(Decision(lease.claim, decided), now=NOON))
    told = msgspec.json.decode(sent, type=Completion)
    assert after(lease, outcome_of(told), now=NOON, jitter=jitter) == decided
    # The worker's draw counts, and no other: the shortest wait that the policy allows is never longer.
    if told.wait_is_drawn:
        assert after(lease, outcome_of(told), now=NOON, jitter=0.0) == decided
    assert told.wait_is_drawn == (isinstance(outcome, Failed) and decided.due is not None)


@given(
    st.lists(st.sampled_from([b"x", b"y" * (BATCH_BYTES_MAX // 2), b"z" * (BATCH_BYTES_MAX + 1)]), max_size=9)
)
def test_batches_hold_everything_in_order_and_fit(items: list[bytes]) -> None:
    found = list(batches(items))
    assert [item for batch in found for item in batch] == items
    for batch in found:
        assert len(batch) == 1 or sum(map(len, batch)) <= BATCH_BYTES_MAX
    assert [len(batch) for batch in batches([b"x"] * (ITEMS_MAX + 1))] == [ITEMS_MAX, 1]


@pytest.mark.parametrize("kept", [None, Document("null"), Document("7")])
def test_null_is_not_nothing_on_the_way_to_a_worker(kept: Document | None) -> None:
    sent = msgspec.json.encode(lease_answer(Handed(leased()._replace(input=kept), kept)))
    read = msgspec.json.decode(sent, type=Lease)
    assert leased_of(read, WorkerId("ada"), revision_of(read)).input == kept
    assert read.has_checkpoint == (kept is not None)


@pytest.mark.parametrize("rendered", [None, Document("null"), Document("7")])
def test_a_task_of_a_workflow_reaches_its_worker_with_its_own_payload(rendered: Document | None) -> None:
    """Also where the worker knows the revision already, from another item of the same fan-out."""
    job = leased()
    task = job._replace(revision=replace(job.revision, is_task=True), input=rendered)
    other = task._replace(input=Document('"other"'))
    known = revision_of(
        msgspec.json.decode(msgspec.json.encode(lease_answer(Handed(other, None))), type=Lease)
    )

    read = msgspec.json.decode(msgspec.json.encode(lease_answer(Handed(task, None))), type=Lease)

    assert (read.is_task, read.has_input) == (True, False)
    assert leased_of(read, WorkerId("ada"), known).payload == task.payload


def test_a_worker_reads_what_the_first_servers_answered() -> None:
    """A field that came later has a default where it is read."""
    lease = msgspec.json.decode(msgspec.json.encode(lease_answer(Handed(leased(), None))))
    old = {"leases": [{name: lease[name] for name in FIRST_LEASE.split()}]}
    [read] = msgspec.json.decode(msgspec.json.encode(old), type=ClaimedRead).leases
    assert revision_of(read) == leased().revision
    for text, kind in FIRST_ANSWERS:
        assert msgspec.json.decode(text.replace("PAIR", PAIR).replace("TIME", TIME), type=kind)


@pytest.mark.parametrize("kept", [None, Document("null"), Document("7")])
def test_null_is_not_nothing_in_a_line_of_log(kept: Document | None) -> None:
    line = LogLine(leased().claim, 1, NOON, LogLevel.INFO, "hello", kept)
    assert line_of(msgspec.json.decode(msgspec.json.encode(line_form(line)), type=LineOne), NOON) == line
