"""What Gnomon refuses to run on: servers and files on which an acknowledged job could be lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from gnomon.app import open_database
from gnomon.app.processes.opening import open_store
from gnomon.errors import StoreRefused
from gnomon.store.databases.files import NETWORK_FILE_SYSTEMS, file_system_of
from gnomon.store.databases.sqlite import SqliteDatabase
from gnomon.store.schema.migrations import migrate
from tests.conftest import BUNDLED, MakeDatabase, StartServer
from tests.contract.given import NOW
from tests.postgres import PostgresServer, StandbyServer, bundled_server

NOBODY = 65534
MOUNTS = """\
overlay / overlay rw,relatime 0 0
server:/export /srv/shared nfs4 rw,vers=4.2 0 0
/dev/sda1 /srv/shared/local ext4 rw 0 0
//box/share /mnt/with\\040space cifs rw 0 0
user@host: /media/remote fuse.sshfs rw 0 0
tmpfs /srv/twice tmpfs rw 0 0
server:/other /srv/twice nfs rw 0 0
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server of our own, since its settings will be bad."""
    with PostgresServer(bundled_server()) as started:
        yield started


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
async def test_a_server_that_could_lose_work_in_a_crash_is_refused(
    server: PostgresServer, setting: str
) -> None:
    server.settings[setting] = "off"
    server.restart()
    with pytest.raises(StoreRefused, match=rf"^{setting} is off: a crash would lose acknowledged work\."):
        await open_database(server.dsn())
    del server.settings[setting]
    server.restart()
    await (await open_database(server.dsn())).close()


async def test_every_reason_is_named_at_once(server: PostgresServer) -> None:
    server.settings |= {"fsync": "off", "full_page_writes": "off"}
    server.restart()
    with pytest.raises(StoreRefused, match=r"fsync is off.*full_page_writes is off"):
        await open_database(server.dsn())
    del server.settings["fsync"], server.settings["full_page_writes"]
    server.restart()


async def test_a_standby_is_refused(server: PostgresServer) -> None:
    with StandbyServer(server) as standby:
        with pytest.raises(StoreRefused, match=r"read-only standby\. Point Gnomon at the primary"):
            await open_database(standby.dsn())
        await (await open_database(server.dsn())).close()


async def test_a_database_that_is_not_unicode_is_refused(server: PostgresServer) -> None:
    connection = await asyncpg.connect(server.dsn())
    await connection.execute("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0")
    await connection.close()
    with pytest.raises(StoreRefused, match=r"encoding is SQL_ASCII\. Create it with ENCODING 'UTF8'"):
        await open_database(server.dsn("bytes"))


async def test_a_wrong_password_and_an_unknown_database_are_told(postgres: StartServer) -> None:
    server = postgres(BUNDLED)
    with pytest.raises(StoreRefused, match='does not let us in: database "nowhere" does not exist'):
        await open_database(server.dsn("nowhere"))
    with pytest.raises(StoreRefused, match="does not let us in: password authentication failed"):
        await open_database(server.tcp_dsn().replace(server.password, "wrong"))


async def test_a_role_that_may_not_make_tables_cannot_migrate(
    postgres: StartServer, fresh_database: MakeDatabase
) -> None:
    url = await fresh_database(postgres(BUNDLED))
    connection = await asyncpg.connect(url)
    await connection.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN")
    await connection.close()
    database = await open_database(url.replace("gnomon@", "reader@"))
    with pytest.raises(StoreRefused, match="does not let us in: permission denied for schema public"):
        await migrate(database, now=NOW)
    await database.close()


# SQLite -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/gnomon", "overlay"),
        ("/srv/shared/data", "nfs4"),
        ("/srv/shared/local/data", "ext4"),
        ("/srv/sharedX", "overlay"),
        ("/mnt/with space/data", "cifs"),
        ("/media/remote", "fuse.sshfs"),
        ("/srv/twice", "nfs"),  # The later mount hides the earlier one.
    ],
)
def test_the_file_system_of_a_folder_is_that_of_its_nearest_mount(folder: str, kind: str) -> None:
    assert file_system_of(Path(folder), MOUNTS) == kind
    assert (kind in NETWORK_FILE_SYSTEMS) == (kind in ("nfs", "nfs4", "cifs", "fuse.sshfs"))


async def test_a_file_is_made_for_its_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        database = await open_database(f"sqlite://{tmp_path}/gnomon.db")
        await migrate(database, now=NOW)
    finally:
        os.umask(before)
    modes = modes_in(tmp_path)
    await database.close()
    assert modes == dict.fromkeys(["gnomon.db", "gnomon.db-wal", "gnomon.db-shm"], 0o600)


async def test_a_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gnomon.db"
    path.touch()
    path.chmod(0o666)
    with pytest.raises(StoreRefused, match=r"All users of this machine may write .* Run: chmod 600"):
        await open_database(str(path))


async def test_a_file_that_all_can_read_is_told_with_the_command_that_mends_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "gnomon.db"
    database = await open_database(str(path))
    await migrate(database, now=NOW)
    await database.close()
    await (await open_store(str(path))).close()
    assert caplog.messages == []
    path.chmod(0o644)
    await (await open_store(str(path))).close()
    [told] = caplog.messages
    assert told == f"all users of this machine can read {path}. Run: chmod 600 {path}"


async def test_every_connection_has_a_log_and_waits_for_the_disk(tmp_path: Path) -> None:
    database = await open_database(str(tmp_path / "gnomon.db"))
    assert isinstance(database, SqliteDatabase)
    connections = [database.writer, *(reader for reader, _ in database._readers)]
    assert len(connections) > 1
    for connection in connections:
        for pragma, value in {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}.items():
            assert connection.raw.execute(f"PRAGMA {pragma}").fetchone() == (value,)
    await database.close()


async def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreRefused, match=r"The folder .*/missing does not exist\. Make it"):
        await open_database(f"sqlite://{tmp_path}/missing/gnomon.db")


async def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gnomon.db"
    path.touch(mode=0o444)
    with unprivileged(), pytest.raises(StoreRefused, match=r"cannot be opened: Permission denied\."):
        await open_database(str(path))
    with pytest.raises(StoreRefused, match=r"cannot be opened: Is a directory\."):
        await open_database(str(tmp_path))


async def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear database, " * 100)
    path.chmod(0o600)
    with pytest.raises(StoreRefused, match=r"letter\.txt is no SQLite database that can be used"):
        await open_database(str(path))


def modes_in(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@contextmanager
def unprivileged() -> Iterator[None]:
    """Root may write everything, so root steps down for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
