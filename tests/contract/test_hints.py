"""Hints arrive, in this process and in others; a flood is few; a broken connection is made again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import asyncpg
import pytest

from gnomon.app import open_hints
from gnomon.store.databases.hints import Hints, LocalHints, Topic
from gnomon.store.databases.postgres_hints import QUIET, Outgoing
from tests.conftest import EACH_SERVER, MakeDatabase, StartServer
from tests.postgres import free_port

PATIENCE_SECONDS = 20
LISTENERS = "SELECT pid FROM pg_stat_activity WHERE query ILIKE 'listen %' AND datname = current_database()"


class Ear:
    """Hears hints, and lets a test wait for them."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[Topic] = asyncio.Queue()

    def __call__(self, topic: Topic) -> None:
        self.heard.put_nowait(topic)

    async def next(self) -> Topic:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.heard.get()

    async def everything(self) -> None:
        """What a listener hears when its connection has been made."""
        assert [await self.next() for _ in Topic] == list(Topic)


@pytest.fixture
async def url(fresh_database: MakeDatabase) -> str:
    return await fresh_database()


@pytest.fixture
async def opened() -> AsyncIterator[Callable[[str], Hints]]:
    every: list[Hints] = []

    def open_one(url: str) -> Hints:
        every.append(open_hints(url))
        return every[-1]

    yield open_one
    for hints in every:
        await hints.close()


@pytest.fixture(params=["sqlite", *EACH_SERVER])
async def hints(
    request: pytest.FixtureRequest,
    postgres: StartServer,
    fresh_database: MakeDatabase,
    opened: Callable[[str], Hints],
) -> Hints:
    if request.param == "sqlite":
        return opened("sqlite://:memory:")
    return opened(await fresh_database(postgres(request.param)))


async def ready(hints: Hints) -> Ear:
    ear = Ear()
    hints.listen(ear)
    if not isinstance(hints, LocalHints):
        await ear.everything()
    return ear


async def test_a_hint_reaches_all_who_listen(hints: Hints) -> None:
    ear = await ready(hints)
    other = Ear()
    hints.listen(other)

    hints.announce(Topic.WORK)

    assert (await ear.next(), await other.next()) == (Topic.WORK, Topic.WORK)
    hints.announce(Topic.SCHEDULE)
    assert (await ear.next(), await other.next()) == (Topic.SCHEDULE, Topic.SCHEDULE)


async def test_who_has_left_hears_nothing(hints: Hints) -> None:
    ear = await ready(hints)
    gone = Ear()
    leave = hints.listen(gone)
    leave()
    leave()

    hints.announce(Topic.WORK)

    assert await ear.next() is Topic.WORK
    assert gone.heard.empty()


async def test_a_flood_is_few_hints_and_the_last_comes_after_the_last_call(hints: Hints) -> None:
    ear = await ready(hints)
    for _ in range(1000):
        hints.announce(Topic.WORK)

    assert await ear.next() is Topic.WORK
    hints.announce(Topic.WORK)
    assert await ear.next() is Topic.WORK
    hints.announce(Topic.CANCEL)
    assert await ear.next() is Topic.CANCEL
    assert ear.heard.empty()


async def test_a_listener_that_fails_hurts_neither_the_announcer_nor_the_others(hints: Hints) -> None:
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))

    def fail(_: Topic) -> None:
        raise RuntimeError("a bug in a listener")

    hints.listen(fail)
    ear = await ready(hints)
    hints.announce(Topic.WORK)

    assert await ear.next() is Topic.WORK
    assert failures


async def test_the_first_of_a_topic_goes_out_at_once_and_the_rest_as_one_at_the_end_of_the_quiet() -> None:
    outgoing, loop = Outgoing(), asyncio.get_running_loop()
    outgoing.add(Topic.WORK)
    assert await outgoing.take() == {Topic.WORK}
    first = loop.time()

    for _ in range(100):
        outgoing.add(Topic.WORK)
    outgoing.add(Topic.SCHEDULE)

    # Another topic does not wait for the quiet of the first.
    assert await outgoing.take() == {Topic.SCHEDULE}
    assert await outgoing.take() == {Topic.WORK}
    assert loop.time() - first >= QUIET.total_seconds() * 0.9
    assert not outgoing.take_all()


async def test_a_hint_crosses_processes_but_not_databases_or_schemas(
    url: str, fresh_database: MakeDatabase, opened: Callable[[str], Hints]
) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE SCHEMA other")
    await connection.close()
    ear = await ready(opened(url))
    deaf = [
        await ready(opened(await fresh_database())),
        await ready(opened(f"{url}&options=-csearch_path%3Dother")),
    ]

    opened(url).announce(Topic.WORK)

    assert await ear.next() is Topic.WORK
    assert all(one.heard.empty() for one in deaf)


async def test_an_unknown_topic_of_a_later_release_is_not_heard(
    url: str, opened: Callable[[str], Hints]
) -> None:
    ear = await ready(opened(url))
    connection = await asyncpg.connect(url)
    [row] = await connection.fetch("SELECT 'gnomon_' || 'public'::regnamespace::oid AS channel")
    await connection.execute(f"NOTIFY {row['channel']}, 'weather'")
    await connection.execute(f"NOTIFY {row['channel']}, 'cancel'")
    await connection.close()

    assert await ear.next() is Topic.CANCEL


async def test_a_listener_whose_connection_broke_comes_back_and_looks_at_everything(
    url: str, opened: Callable[[str], Hints]
) -> None:
    hints = opened(url)
    ear = await ready(hints)
    connection = await asyncpg.connect(url)
    [listener] = await connection.fetch(LISTENERS)
    await connection.execute("SELECT pg_terminate_backend($1)", listener["pid"])
    await connection.close()

    await ear.everything()
    hints.announce(Topic.WORK)
    assert await ear.next() is Topic.WORK


async def test_an_announcer_whose_connection_broke_sends_it_again(
    url: str, opened: Callable[[str], Hints]
) -> None:
    ear, hints = await ready(opened(url)), opened(url)
    hints.announce(Topic.WORK)
    assert await ear.next() is Topic.WORK
    connection = await asyncpg.connect(url)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE query ILIKE '%pg_notify%' AND datname = current_database() AND pid <> pg_backend_pid()"
    )
    await connection.close()

    hints.announce(Topic.SCHEDULE)

    assert await ear.next() is Topic.SCHEDULE


async def test_an_announcement_right_before_the_end_still_goes_out(
    url: str, opened: Callable[[str], Hints]
) -> None:
    ear, hints = await ready(opened(url)), open_hints(url)
    hints.announce(Topic.WORK)
    hints.announce(Topic.CANCEL)
    await hints.close()

    assert {await ear.next(), await ear.next()} == {Topic.WORK, Topic.CANCEL}


async def test_without_a_server_announcing_and_listening_are_quiet_and_closing_is_quick() -> None:
    hints = open_hints(f"postgresql://nobody@127.0.0.1:{free_port()}/none")
    hints.listen(Ear())
    hints.announce(Topic.WORK)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await hints.close()


async def test_after_the_end_nothing_happens_any_more(hints: Hints) -> None:
    ear = Ear()
    await hints.close()
    hints.listen(ear)
    hints.announce(Topic.WORK)
    await asyncio.sleep(0)

    assert ear.heard.empty()


async def test_behind_a_transaction_pooler_hints_stay_in_the_process(
    url: str, opened: Callable[[str], Hints]
) -> None:
    hints = opened(f"{url}&pooler=transaction")
    assert isinstance(hints, LocalHints)
    ear = await ready(hints)
    hints.announce(Topic.WORK)
    assert await ear.next() is Topic.WORK
