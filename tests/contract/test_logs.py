"""Lines of running attempts: fenced, in order, and never twice."""

from __future__ import annotations

from dataclasses import replace

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import Released
from gnomon.core.executions.records import LogLevel, LogLine
from gnomon.core.values.document import Document
from gnomon.store.protocols.store import Store
from tests.contract.given import BOB, DONE, NOW, SECOND, claim_one, end, other_tenant, running


def line(claim: Claim, number: int, message: str = "…") -> LogLine:
    return LogLine(claim, number, NOW + number * SECOND, LogLevel.INFO, message)


async def read(store: Store, claim: Claim) -> list[LogLine]:
    return list(await store.logs.read(DEFAULT_TENANT, claim.execution_id, limit=100))


async def test_lines_come_back_as_they_were_written(store: Store) -> None:
    leased = await running(store)
    context = Document.of({"row": 7}, field="context")
    lines = [
        LogLine(leased.claim, 1, NOW, LogLevel.DEBUG, "one\ntwo\t'three'"),
        LogLine(leased.claim, 2, NOW, LogLevel.ERROR, "", context),
    ]

    assert list(await store.logs.append(lines)) == [leased.claim]

    assert await read(store, leased.claim) == lines


async def test_lines_are_read_in_order_however_they_came(store: Store) -> None:
    first = await running(store)
    await store.logs.append([line(first.claim, n) for n in (3, 1)])
    await store.logs.append([line(first.claim, n) for n in (10, 2)])
    await end(store, first, Released())
    second = await claim_one(store, BOB)
    await store.logs.append([line(second.claim, 1)])

    positions = [(one.claim.number, one.number) for one in await read(store, second.claim)]

    assert positions == [(1, 1), (1, 2), (1, 3), (1, 10), (2, 1)]


async def test_a_line_written_twice_is_one_line(store: Store) -> None:
    leased = await running(store)
    lines = [line(leased.claim, 1), line(leased.claim, 2)]
    await store.logs.append(lines)

    assert list(await store.logs.append([*lines, line(leased.claim, 3)])) == [leased.claim]
    assert set(await store.logs.append([line(leased.claim, 4), line(leased.claim, 4)])) == {leased.claim}

    assert [one.number for one in await read(store, leased.claim)] == [1, 2, 3, 4]


async def test_the_first_writing_of_a_line_stays(store: Store) -> None:
    leased = await running(store)
    first = line(leased.claim, 1, "first")
    await store.logs.append([first])

    await store.logs.append([replace(first, message="second")])

    assert await read(store, leased.claim) == [first]


async def test_a_zombie_writes_no_line(store: Store) -> None:
    zombie = await running(store)
    await store.logs.append([line(zombie.claim, 1)])
    await end(store, zombie, Released())
    current = await claim_one(store, BOB)

    held = await store.logs.append([line(zombie.claim, 2), line(current.claim, 1)])

    assert list(held) == [current.claim]
    positions = [(one.claim.number, one.number) for one in await read(store, current.claim)]
    assert positions == [(1, 1), (2, 1)]


async def test_the_lines_of_an_ended_execution_stay_and_no_more_come(store: Store) -> None:
    leased = await running(store)
    await store.logs.append([line(leased.claim, 1)])
    await end(store, leased, DONE)

    assert list(await store.logs.append([line(leased.claim, 2)])) == []

    assert await read(store, leased.claim) == [line(leased.claim, 1)]


async def test_a_reader_goes_on_from_the_last_line_it_saw(store: Store) -> None:
    first = await running(store)
    await store.logs.append([line(first.claim, n) for n in (1, 2, 3)])
    await end(store, first, Released())
    second = await claim_one(store, BOB)
    await store.logs.append([line(second.claim, n) for n in (1, 2)])

    seen: list[tuple[int, int]] = []
    while True:
        after = seen[-1] if seen else (0, 0)
        lines = await store.logs.read(DEFAULT_TENANT, first.claim.execution_id, limit=2, after=after)
        if not lines:
            break
        seen += [(one.claim.number, one.number) for one in lines]

    assert seen == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]


async def test_another_tenant_reads_no_lines(store: Store) -> None:
    leased = await running(store)
    await store.logs.append([line(leased.claim, 1)])

    assert list(await store.logs.read(await other_tenant(store), leased.claim.execution_id, limit=10)) == []


async def test_a_batch_of_no_lines_is_no_trouble(store: Store) -> None:
    assert list(await store.logs.append([])) == []
