"""A worker decides and tells the outcome; its server decides again. Both must come to the same."""

from __future__ import annotations

from datetime import timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gnomon.api.lease_forms import Completion, outcome_of
from gnomon.client.remote.line import BATCH_BYTES_MAX, ITEMS_MAX, batches
from gnomon.client.remote.work_forms import completion_form
from gnomon.core.document import Document
from gnomon.core.execution import Failure
from gnomon.core.job import Delivery
from gnomon.core.lease import Leased
from gnomon.core.lifecycle import Cancelled, Failed, Outcome, Released, Snoozed, Succeeded, TimedOut, after
from gnomon.core.retry import RetryPolicy
from gnomon.store.base import Decision
from tests.unit.core.builders import NOON, leased

WAITS = st.integers(0, 700_000).map(lambda seconds: timedelta(seconds=seconds))
FAILURES = st.builds(Failure, st.sampled_from(["bad", "worse"]), st.text(min_size=1, max_size=5))
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.sampled_from([Succeeded(), Succeeded(Document('{"ü":[1,null]}')), TimedOut(), Cancelled()]),
    st.builds(Failed, FAILURES, st.booleans(), st.none() | WAITS),
    st.builds(Snoozed, WAITS, st.booleans()),
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


@given(LEASES, OUTCOMES, st.floats(0, 1, exclude_max=True))
def test_what_is_told_of_a_decision_leads_to_the_same_decision(
    lease: Leased, outcome: Outcome, jitter: float
) -> None:
    decided = after(lease, outcome, now=NOON, jitter=jitter)
    sent = msgspec.json.encode(completion_form(Decision(lease.claim, decided), now=NOON))
    told = outcome_of(msgspec.json.decode(sent, type=Completion))
    assert after(lease, told, now=NOON, jitter=jitter) == decided


@given(
    st.lists(st.sampled_from([b"x", b"y" * (BATCH_BYTES_MAX // 2), b"z" * (BATCH_BYTES_MAX + 1)]), max_size=9)
)
def test_batches_hold_everything_in_order_and_fit(items: list[bytes]) -> None:
    found = list(batches(items))
    assert [item for batch in found for item in batch] == items
    for batch in found:
        assert len(batch) == 1 or sum(map(len, batch)) <= BATCH_BYTES_MAX
    assert [len(batch) for batch in batches([b"x"] * (ITEMS_MAX + 1))] == [ITEMS_MAX, 1]
