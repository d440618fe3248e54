"""Odd input is input: names, numbers and documents come back as they were sent."""

from __future__ import annotations

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.executions.records import Checkpoint, JobFilter
from gnomon.core.jobs.job import Definition
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.values.document import NESTING_MAX, Document
from gnomon.store.protocols.store import Store
from tests.contract.given import (
    HOUR,
    NOW,
    claim_one,
    create_one,
    end,
    enqueue_one,
    new_job,
    request,
    seen,
)


def nested(depth: int) -> object:
    value: object = 7
    for _ in range(depth):
        value = [value]
    return value


GOOD_NUMBERS = [
    *(0, -1, 2**31, 2**53 + 1, -(2**63) - 1, 2**64, 10**300, 1 - 2**1024),
    *(0.1, 1e-7, 1e22, 1e23, 1e300, 1.5, -2.5e-300, 5e-324, 1.7976931348623157e308, 123456789.123456789),
]


async def test_numbers_come_back_as_the_same_numbers(store: Store) -> None:
    sent = Document.of({str(n): number for n, number in enumerate(GOOD_NUMBERS)}, field="input")
    job = await create_one(store, new_job(definition=Definition("echo", sent)))
    execution_id = await enqueue_one(store, job, input=sent)
    leased = await claim_one(store)
    await store.checkpoints.save([Checkpoint(leased.claim, sent, 0.1, NOW)])
    await end(store, leased, Succeeded(sent))

    stored = await store.jobs.get(DEFAULT_TENANT, job.id)
    execution = await seen(store, execution_id)
    checkpoint = (await store.checkpoints.load([execution_id]))[execution_id]

    kept = [stored.definition.payload, leased.input, leased.revision.definition.payload, execution.input]
    for document in [*kept, execution.result, checkpoint.state]:
        assert document is not None
        assert document.value == sent.value


async def test_the_deepest_document_comes_back(store: Store) -> None:
    deep = Document.of(nested(NESTING_MAX), field="payload")

    job = await create_one(store, new_job(definition=Definition("echo", deep)))

    assert (await store.jobs.get(DEFAULT_TENANT, job.id)).definition.payload == deep


async def test_empty_and_odd_keys_come_back(store: Store) -> None:
    odd = {
        "": 1,
        " ": {"": []},
        "a.b": None,
        "ключ": "значение",
        "\ufeff": "\U0010ffff",
        "\x01": "\x7f\u2028",
    }

    job = await create_one(store, new_job(definition=Definition("echo", Document.of(odd, field="payload"))))

    assert (await store.jobs.get(DEFAULT_TENANT, job.id)).definition.payload.value == odd


ODD_WORDS = [
    'it\'s "quoted" `thrice` \\ and „once“ more',
    "'; DROP TABLE jobs; --",
    "' OR 1=1 --",
    "100 % %s %(name)s %d",
    "${secrets.A} $1 $$ :name ?1 @p {0}",
    "😀👩‍👩‍👧 ü é e\u0301 \u202eRTL\u202c",
    "עברית العربية 中文 ไทย",
    "<img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "../../etc/passwd",
    "a\nb\tc\r",
    "\ufeff\u200b\x01\x7f",
    "NULL",
    "null",
    "true",
    "[1, 2]",
    '{"a": 1}',
    "x" * 255,
    "😀" * 255,
]


@pytest.mark.parametrize("word", ODD_WORDS, ids=lambda word: ascii(word[:24]))
async def test_an_odd_name_is_just_a_name(store: Store, word: str) -> None:
    new = new_job(
        word,
        tags=[word],
        definition=Definition(
            word,
            queue=word,
            capabilities=frozenset({word}),
            retry=RetryPolicy(retry_on=frozenset({word})),
            payload=Document.of({word: word}, field="payload"),
        ),
    )

    job = await create_one(store, new)
    await enqueue_one(store, job, unique_key=word, input=Document.of(word, field="input"))
    [leased] = await store.executions.claim(
        request(
            WorkerId(word),
            kinds=frozenset({word.lower()}),
            queues=frozenset({word}),
            capabilities=frozenset({word}),
        ),
        now=NOW,
        lease_until=NOW + HOUR,
    )

    assert (job.name, job.tags, job.definition) == (word, frozenset({word}), new.definition)
    assert await store.jobs.named(DEFAULT_TENANT, word) == job
    for wanted in (JobFilter(name=word), JobFilter(tag=word), JobFilter(kind=word)):
        assert (await store.jobs.page(DEFAULT_TENANT, wanted, limit=10)).items == (job,)
    assert (leased.worker, leased.input, leased.revision.definition) == (
        word,
        Document.of(word, field="input"),
        new.definition,
    )
    assert (await seen(store, leased)).unique_key == word
