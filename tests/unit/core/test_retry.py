"""Whether to try again, and how long to wait before."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.jobs.retry import Backoff, RetryPolicy, backoff, from_document, to_document
from gnomon.errors import InvalidInput
from tests.unit.core.builders import HOUR, MINUTE, SECOND

STEADY = RetryPolicy(jitter=0.0)


def test_the_wait_doubles_up_to_its_cap() -> None:
    waits = [backoff(STEADY, attempts, jitter=0.5) for attempts in range(1, 9)]

    assert waits == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE, 32 * MINUTE, HOUR, HOUR]


def test_a_fixed_wait_stays_the_same() -> None:
    policy = RetryPolicy(backoff=Backoff.FIXED, backoff_base=5 * SECOND, jitter=0.0)

    assert {backoff(policy, attempts, jitter=0.9) for attempts in (1, 2, 1000)} == {5 * SECOND}


def test_a_thousand_attempts_do_not_overflow() -> None:
    policy = RetryPolicy(max_attempts=1000, multiplier=100.0, backoff_max=timedelta(days=7), jitter=1.0)

    assert backoff(policy, 1000, jitter=0.999) == timedelta(days=7)


@given(
    attempts=st.integers(1, 100),
    spread=st.floats(0, 1),
    jitter=st.floats(0, 1, exclude_max=True),
    base=st.integers(0, 10_000),
)
def test_jitter_stays_within_its_share_of_the_curve_and_below_the_cap(
    attempts: int, spread: float, jitter: float, base: int
) -> None:
    policy = RetryPolicy(backoff_base=timedelta(seconds=base), jitter=spread)
    curve = min(base * 2.0 ** (attempts - 1), 3600.0)

    wait = backoff(policy, attempts, jitter=jitter).total_seconds()

    assert curve * (1 - spread) - 1e-3 <= wait <= min(curve * (1 + spread), 3600.0) + 1e-3


def test_the_ends_of_the_jitter_are_the_ends_of_the_range() -> None:
    policy = RetryPolicy(backoff_base=100 * SECOND, jitter=0.1)

    assert backoff(policy, 1, jitter=0.0) == 90 * SECOND
    assert backoff(policy, 1, jitter=0.5) == 100 * SECOND
    assert backoff(policy, 1, jitter=0.999_999) > 109 * SECOND


def test_retry_on_names_the_kinds_that_are_tried_again() -> None:
    assert RetryPolicy().retries("anything")
    picky = RetryPolicy(retry_on=frozenset({"ConnectionError"}))
    assert picky.retries("ConnectionError")
    assert not picky.retries("ValueError")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("max_attempts", value) for value in (0, -1, 10**9, 2.5, True, "3", None)),
        *(("backoff_base", value) for value in (timedelta(seconds=-1), timedelta(days=8), 60)),
        *(("backoff_max", value) for value in (timedelta(seconds=-1), timedelta(days=8), "1h")),
        *(("multiplier", value) for value in (0.5, 101, float("nan"), float("inf"), "2", True)),
        *(("jitter", value) for value in (-0.1, 1.1, float("nan"), "0.1")),
        ("backoff", "exponential"),
        ("retry_on", frozenset({""})),
        ("retry_on", frozenset(str(n) for n in range(65))),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match="retry_policy"):
        RetryPolicy(**{field: value})


def test_a_policy_that_an_older_release_kept_has_the_usual_limit_of_crashes() -> None:
    kept = to_document(RetryPolicy(crash_limit=9))
    old = {name: value for name, value in kept.items() if name != "crash_limit"}

    assert from_document(kept).crash_limit == 9
    assert from_document(old).crash_limit == 3
