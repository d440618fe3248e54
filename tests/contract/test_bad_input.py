"""Bad input reaches no driver: it is refused by its field's name, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from math import inf, nan
from typing import Any
from uuid import UUID

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, Tenant
from gnomon.core.executions.execution import Failure
from gnomon.core.executions.lifecycle import Failed
from gnomon.core.executions.records import Checkpoint, ExecutionFilter, JobFilter, LogLevel, LogLine
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Once, Schedule
from gnomon.core.values.document import DOCUMENT_BYTES_MAX, INTEGER_BITS_MAX, NESTING_MAX, Document
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import InvalidInput, PayloadTooLarge
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    HOUR,
    NOW,
    ask,
    create_one,
    end,
    new_job,
    registration,
    request,
    running,
    seen,
)

NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001 - this is the mistake.


def nested(depth: int) -> object:
    value: object = 7
    for _ in range(depth):
        value = [value]
    return value


# Documents --------------------------------------------------------------------------------------------

BAD_VALUES: dict[str, tuple[object, str]] = {
    "NUL": ({"a": ["x\0y"]}, "payload.a[0]"),
    "NUL in a key": ({"a": {"x\0y": 1}}, "payload.a"),
    "lone surrogate": ({"a": "\ud800"}, "payload.a"),
    "lone surrogate in a key": ({"\udfff": 1}, "payload"),
    "NaN": ({"a": nan}, "payload.a"),
    "Infinity": ({"a": inf}, "payload.a"),
    "-Infinity": ([1, -inf], "payload[1]"),
    "-0.0": ({"a": -0.0}, "payload.a"),
    "huge integer": ({"a": 1 << INTEGER_BITS_MAX}, "payload.a"),
    "an integer that Python will not print": ({"a": 10**5000}, "payload.a"),
    "too deep": (nested(NESTING_MAX + 1), "payload" + "[0]" * (NESTING_MAX + 1)),
    "far too deep": (nested(100_000), "payload" + "[0]" * (NESTING_MAX + 1)),
    "number as key": ({"a": {1: 2}}, "payload.a"),
    "None as key": ({None: 2}, "payload"),
    "tuple": ({"a": (1, 2)}, "payload.a"),
    "bytes": ({"a": b"x"}, "payload.a"),
    "Decimal": ({"a": Decimal("1.5")}, "payload.a"),
    "set": ([{1}], "payload[0]"),
    "datetime": ({"a": NOW}, "payload.a"),
    "UUID": ({"a": UUID(int=7)}, "payload.a"),
}


async def create_with(store: Store, payload: object) -> Job:
    definition = Definition("echo", Document.of(payload, field="payload"))
    return await create_one(store, new_job(definition=definition))


async def nothing_is_stored(store: Store) -> bool:
    jobs = await store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=10)
    executions = await store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=10)
    return jobs.items == () and executions.items == ()


@pytest.mark.parametrize(("value", "field"), BAD_VALUES.values(), ids=list(BAD_VALUES))
async def test_a_value_that_is_not_json_is_refused_where_it_stands(
    store: Store, value: object, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await create_with(store, value)

    assert refused.value.field == field
    assert await nothing_is_stored(store)


async def test_a_payload_is_kept_up_to_the_limit_and_refused_beyond(store: Store) -> None:
    largest = "x" * (DOCUMENT_BYTES_MAX - 2)  # Two quotes belong to the text.
    wide = "ü" * (DOCUMENT_BYTES_MAX // 2 - 1)

    for text in (largest, wide):
        job = await create_with(store, text)
        assert (await store.jobs.get(DEFAULT_TENANT, job.id)).definition.payload.value == text
        with pytest.raises(PayloadTooLarge) as refused:
            Document.of(text + "x", field="payload")
        assert refused.value.field == "payload"
        assert refused.value.size_bytes == DOCUMENT_BYTES_MAX + 1


# Words and numbers beside documents -------------------------------------------------------------------

BAD_WORDS: dict[str, Any] = {
    "NUL": "x\0y",
    "lone surrogate": "x\ud800y",
    "empty": "",
    "blank": " \t\n",
    "256 characters": "x" * 256,
    "bytes": b"x",
    "number": 7,
    "None": None,
}

WORD_FIELDS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "name of a job": ("name", lambda word: new_job("" if word is None else word)),
    "tag": ("tags", lambda word: new_job(tags=[word])),
    "kind": ("kind", lambda word: Definition(word)),
    "queue": ("queue", lambda word: Definition("echo", queue=word)),
    "capability": ("capabilities", lambda word: Definition("echo", capabilities=frozenset({word}))),
    "error kind": ("retry_policy.retry_on", lambda word: RetryPolicy(retry_on=frozenset({word}))),
    "worker": ("worker", lambda word: request(word)),
    "kind of a request": ("kinds", lambda word: request(kinds=frozenset({word}))),
    "id of a worker": ("worker_id", lambda word: registration(word)),
    "hostname": ("hostname", lambda word: registration(hostname=word)),
    "name of a tenant": ("name", lambda word: Tenant(DEFAULT_TENANT, word)),
}


@pytest.mark.parametrize("word", BAD_WORDS.values(), ids=list(BAD_WORDS))
@pytest.mark.parametrize(("field", "build"), WORD_FIELDS.values(), ids=list(WORD_FIELDS))
def test_a_bad_word_is_refused_by_the_name_of_its_field(
    word: Any, field: str, build: Callable[[Any], object]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        build(word)

    assert refused.value.field == field


@pytest.mark.parametrize("priority", [10, -1, True, 2.5, "5", None, nan, 2**40])
async def test_a_priority_is_a_whole_number_from_zero_to_nine(store: Store, priority: Any) -> None:
    job = await create_one(store)

    with pytest.raises(InvalidInput) as refused:
        Definition("echo", priority=priority)
    assert refused.value.field == "priority"
    if priority is not None:
        with pytest.raises(InvalidInput) as refused:
            await store.executions.enqueue(DEFAULT_TENANT, [ask(job, priority=priority)], now=NOW)
        assert refused.value.field == "priority"


@pytest.mark.parametrize(
    "key", ["", "x" * 256, "line\nbreak", "\t", " lead", "trail ", "ü", "x\0", "\ud800", "😀"]
)
async def test_an_idempotency_key_is_visible_ascii(store: Store, key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await store.jobs.create([new_job()], now=NOW, idempotency=Idempotency(key, "fingerprint"))

    assert refused.value.field == "idempotency_key"
    assert await nothing_is_stored(store)


@pytest.mark.parametrize("key", ["x", "~" * 255, "a b", "'; DROP TABLE jobs; --", "%s{}$1:key?"])
async def test_an_odd_idempotency_key_is_a_key(store: Store, key: str) -> None:
    idempotency = Idempotency(key, "fingerprint")
    [job] = await store.jobs.create([new_job()], now=NOW, idempotency=idempotency)

    assert await store.jobs.create([new_job()], now=NOW, idempotency=idempotency) == [job]


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Once(NAIVE), "run_at"),
        (lambda: Delayed(HOUR, NAIVE), "run_at"),
        (lambda: Interval(HOUR, anchor=NAIVE), "anchor"),
        (lambda: Schedule(start_at=NAIVE), "start_at"),
        (lambda: Schedule(end_at=NAIVE), "end_at"),
        (lambda: Interval(timedelta(0)), "interval_seconds"),
        (lambda: Interval(timedelta(milliseconds=1)), "interval_seconds"),
        (lambda: CronTiming("61 * * * *"), "cron"),
        (lambda: CronTiming("0 9 * * *", "Mars/Phobos"), "timezone"),
        (lambda: CronTiming("0 9 * * *", "../../etc/passwd"), "timezone"),
        (lambda: Definition("echo", timeout=timedelta(0)), "timeout_seconds"),
        (lambda: Definition("echo", timeout=timedelta(days=31)), "timeout_seconds"),
        (lambda: Definition("echo", max_concurrent=0), "max_concurrent"),
        (lambda: Definition("echo", max_concurrent=True), "max_concurrent"),
        (lambda: RetryPolicy(max_attempts=0), "retry_policy.max_attempts"),
        (lambda: RetryPolicy(max_attempts=10**9), "retry_policy.max_attempts"),
        (lambda: RetryPolicy(max_attempts=2.5), "retry_policy.max_attempts"),  # type: ignore[arg-type]
        (lambda: RetryPolicy(max_attempts=True), "retry_policy.max_attempts"),
        (lambda: RetryPolicy(multiplier=nan), "retry_policy.backoff_multiplier"),
        (lambda: RetryPolicy(jitter=nan), "retry_policy.jitter"),
        (lambda: RetryPolicy(crash_limit=1), "retry_policy.crash_limit"),
        (lambda: RetryPolicy(crash_limit=1001), "retry_policy.crash_limit"),
        (lambda: registration(slots=0), "capacity"),
        (lambda: registration(slots=True), "capacity"),
        (lambda: request(limit=0), "limit"),
        (lambda: request(limit=True), "limit"),
        (lambda: Tenant(DEFAULT_TENANT, "x", weight=0), "weight"),
    ],
)
def test_times_and_numbers_out_of_range_are_refused_by_the_name_of_their_field(
    build: Callable[[], object], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()

    assert refused.value.field == field


@pytest.mark.parametrize("limit", [0, -1, 1001, 10**9, True, 2.5, "10"])
async def test_a_page_has_a_sane_size(store: Store, limit: Any) -> None:
    pages: list[Callable[[], Any]] = [
        lambda: store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=limit),
        lambda: store.executions.page(DEFAULT_TENANT, ExecutionFilter(), now=NOW, limit=limit),
        lambda: store.dead_letters.page(DEFAULT_TENANT, limit=limit),
    ]

    for page in pages:
        with pytest.raises(InvalidInput) as refused:
            await page()
        assert refused.value.field == "limit"


# What workers send ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["x\0y", "\ud800", "x" * 1_000_000, "\0" * 100, "😀" * 20_000])
async def test_a_failure_that_no_store_can_keep_is_kept_in_other_words(store: Store, text: str) -> None:
    leased = await running(store)
    failure = Failure(text, text)

    await end(store, leased, Failed(failure, permanent=True))

    letter = await store.dead_letters.get(DEFAULT_TENANT, leased.claim.execution_id)
    assert letter.failure == failure == (await seen(store, leased)).failure


@pytest.mark.parametrize("message", ["x\0y", "\ud800", "x" * (16 * 1024 + 1)])
async def test_a_log_line_that_no_store_can_keep_is_refused(store: Store, message: str) -> None:
    leased = await running(store)

    with pytest.raises(InvalidInput) as refused:
        await store.logs.append([LogLine(leased.claim, 1, NOW, LogLevel.INFO, message)])

    assert refused.value.field == "message"
    assert list(await store.logs.read(DEFAULT_TENANT, leased.claim.execution_id, limit=10)) == []


@pytest.mark.parametrize("progress", [-0.1, 1.1, nan, inf])
async def test_progress_lies_between_zero_and_one(store: Store, progress: float) -> None:
    leased = await running(store)

    with pytest.raises(InvalidInput) as refused:
        await store.checkpoints.save([Checkpoint(leased.claim, Document("{}"), progress, NOW)])

    assert refused.value.field == "progress"
    assert dict(await store.checkpoints.load([leased.claim.execution_id])) == {}
