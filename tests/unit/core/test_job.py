"""What a job may say."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.jobs.job import SHARDS, Definition, Delivery, JobId, NewJob, shard_of
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.ids import IdSource
from gnomon.errors import InvalidInput
from tests.unit.core.builders import JOB_ID, NOON


def new_job(**words: Any) -> NewJob:
    given: dict[str, Any] = {
        "name": "nightly",
        "definition": Definition("report"),
        "next_run_time": None,
    } | words
    return NewJob(id=JOB_ID, tenant_id=DEFAULT_TENANT, **given)


def test_a_definition_needs_only_what_to_run() -> None:
    definition = Definition("report")

    assert definition.schedule == Schedule()
    assert definition.payload.value == {}
    assert (definition.queue, definition.priority) == ("default", 5)
    assert (definition.delivery, definition.timeout) == (Delivery.AT_LEAST_ONCE, None)
    assert definition.retry.max_attempts == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", ""),
        ("queue", " "),
        *(("priority", value) for value in (-1, 10, 5.0, True, "5")),
        ("capabilities", frozenset({""})),
        ("capabilities", frozenset(str(n) for n in range(33))),
        *(("timeout", timedelta(seconds=value)) for value in (0, -1, 31 * 86_400)),
        *(("max_concurrent", value) for value in (0, -1, 10**6, 1.0, True)),
        ("delivery", "at_most_once"),
    ],
)
def test_a_definition_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=field):
        Definition(**{"kind": "report", field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "x" * 256),
        ("tags", frozenset({"a\0"})),
        ("tags", frozenset(str(n) for n in range(65))),
        ("dependencies", frozenset(JobId(UUID(int=n)) for n in range(257))),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=field):
        new_job(**{field: value})


def test_shards_are_stable_and_evenly_filled() -> None:
    ids = IdSource(Random(1))
    jobs = [JobId(ids.next(NOON)) for _ in range(SHARDS * 100)]

    filled = Counter(shard_of(job) for job in jobs)

    assert set(filled) == set(range(SHARDS))
    assert all(50 < count < 150 for count in filled.values())
    # Stored in rows: a change of this number loses jobs.
    assert shard_of(JOB_ID) == 22
