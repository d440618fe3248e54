"""Callers that go away while SQLite works for them, and a store that has been closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gnomon.errors import StoreUnavailable
from gnomon.store.databases.one_thread import HERE_SECONDS_MAX, ROW_SECONDS, OneThread
from gnomon.store.databases.sqlite import FOLD_ROWS, QUICK_ROWS_MAX, SqliteDatabase


async def test_a_caller_cancelled_while_its_transaction_begins_stops_nobody(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    go_on = threading.Event()
    busy = asyncio.create_task(database.on_writer(go_on.wait))

    async def begin() -> None:
        async with database.transaction():
            pass

    waiting = asyncio.create_task(begin())
    await asyncio.sleep(0)  # One turn of the loop: it has asked for its BEGIN and waits for the thread.
    waiting.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await busy

    await database.fetch("migrations_table")
    await database.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    await database.close()

    with pytest.raises(StoreUnavailable):
        await database.fetch("migrations_table")


@pytest.fixture
def thread() -> Iterator[OneThread]:
    thread = OneThread("test")
    yield thread
    thread.stop()


@dataclass
class LoopTime:
    """What the loop takes for the time. It stands still: a busy machine must not look like slow work."""

    seconds: float


@pytest.fixture
async def loop_time(monkeypatch: pytest.MonkeyPatch) -> LoopTime:
    told = LoopTime(asyncio.get_running_loop().time())
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: told.seconds)
    return told


async def test_quick_work_is_done_on_the_thread_of_the_loop(thread: OneThread) -> None:
    assert await thread.run_here_if_quick(threading.get_ident) == threading.get_ident()


@pytest.mark.usefixtures("loop_time")
async def test_slow_work_of_late_sends_work_to_the_thread_until_it_is_quick_again(thread: OneThread) -> None:
    thread.pace.note(20 * HERE_SECONDS_MAX)

    there = 0
    while await thread.run_here_if_quick(threading.get_ident) != threading.get_ident():
        there += 1
    assert there == 7  # It looked twice as slow as may be, and 0.9 to the power of 7 is less than a half.


async def test_a_batch_that_is_quick_for_its_size_does_not_count_as_slow(
    thread: OneThread, loop_time: LoopTime
) -> None:
    spent = 2 * HERE_SECONDS_MAX

    def slowly() -> int:
        loop_time.seconds += spent
        return threading.get_ident()

    rows = round(spent / ROW_SECONDS)
    for _ in range(40):
        assert await thread.run_here_if_quick(slowly, rows=rows) == threading.get_ident()
    for _ in range(20):
        last = await thread.run_here_if_quick(slowly, rows=1)
    assert last != threading.get_ident()


async def test_work_does_not_overtake_what_a_cancelled_caller_left_behind(thread: OneThread) -> None:
    go_on = threading.Event()
    left_behind = asyncio.create_task(thread.run(go_on.wait))
    await asyncio.sleep(0)
    left_behind.cancel()
    await asyncio.sleep(0)

    next_one = asyncio.create_task(thread.run_here_if_quick(threading.get_ident))
    await asyncio.sleep(0)
    assert not next_one.done()
    go_on.set()
    assert await next_one != threading.get_ident()


async def test_two_stores_on_one_loop_wait_for_each_other_without_stopping_it(tmp_path: Path) -> None:
    one, other = (SqliteDatabase(str(tmp_path / "gnomon.db")) for _ in range(2))
    await one.fetch("migrations_table")

    async with one.transaction() as session:
        waiting = asyncio.create_task(other.fetch("migrations_table"))
        await asyncio.sleep(0)
        await session.fetch("migrations_applied")
        assert not waiting.done()
    await waiting

    await one.close()
    await other.close()


@pytest.mark.usefixtures("loop_time")
async def test_the_log_is_folded_into_the_file_on_the_thread(tmp_path: Path) -> None:
    """It takes a tenth of a second and more, and the loop answers nobody meanwhile."""
    file, megabyte = tmp_path / "gnomon.db", 1024 * 1024
    database = SqliteDatabase(str(file))
    writer, commits = database.writer.raw, list[int]()

    async def write(size_bytes: int) -> None:
        async with database.transaction():
            await database.write(lambda: writer.execute("INSERT INTO t VALUES (zeroblob(?))", (size_bytes,)))

    def note(statement: str) -> None:
        if statement == "COMMIT":
            commits.append(threading.get_ident())

    writer.execute("CREATE TABLE t (value)")
    writer.set_trace_callback(note)
    for _ in range(FOLD_ROWS):
        await write(megabyte)
    assert set(commits) == {threading.get_ident()}
    assert file.stat().st_size < megabyte, "no commit on the loop folds"
    await write(0)

    assert commits[-1] != threading.get_ident()
    assert file.stat().st_size > FOLD_ROWS * megabyte
    await database.close()


@pytest.mark.usefixtures("loop_time")
async def test_the_commit_of_a_large_transaction_is_left_to_the_thread(tmp_path: Path) -> None:
    database = SqliteDatabase(str(tmp_path / "gnomon.db"))
    writer, commits = database.writer.raw, list[int]()
    writer.execute("CREATE TABLE t (value)")
    writer.set_trace_callback(
        lambda text: commits.append(threading.get_ident()) if text == "COMMIT" else None
    )

    for rows in (1, QUICK_ROWS_MAX + 1):
        async with database.transaction():
            await database.on_writer(lambda: writer.executemany("INSERT INTO t VALUES (?)", [(1,)] * rows))  # noqa: B023

    assert [thread == threading.get_ident() for thread in commits] == [True, False]
    await database.close()
