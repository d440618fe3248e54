"""The one verb that reads a clock. The databases of these tests run on the machine of the tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gnomon.store.protocols.store import Store

# SQLite counts in milliseconds, and cuts.
GRAIN = timedelta(milliseconds=1)


async def test_the_clock_of_a_store_tells_the_time_in_utc(store: Store) -> None:
    before = datetime.now(UTC)

    told = await store.clock()

    assert told.utcoffset() == timedelta(0)
    assert before - GRAIN <= told <= datetime.now(UTC)


async def test_the_clock_of_a_store_goes_on_between_two_looks(store: Store) -> None:
    first = await store.clock()
    looks = [await store.clock() for _ in range(10)]
    assert [first, *looks] == sorted([first, *looks])


async def test_the_clock_knows_fractions_of_a_second(store: Store) -> None:
    looks = {(await store.clock()).microsecond for _ in range(20)}
    assert looks != {0}
