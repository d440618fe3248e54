"""The supervisor of PostgreSQL: it starts, crashes, recovers, and leaves nothing behind."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Unpack

import asyncpg
import pytest

from tests.conftest import BUNDLED, EACH_SERVER, SERVERS, MakeDatabase
from tests.postgres import Identity, PostgresFailed, PostgresServer, bundled_server, installed_servers

ROOT = Path(__file__).parents[2]
GONE_SECONDS_MAX = 20.0

# What a test run does, as a program of its own: start a server, prove it, say where it is, wait.
PROGRAM = textwrap.dedent("""
    import asyncio, sys
    import asyncpg
    from tests.postgres import PostgresServer, bundled_server

    async def prove(dsn):
        connection = await asyncpg.connect(dsn)
        assert await connection.fetchval("SELECT 1") == 1
        await connection.close()

    with PostgresServer(bundled_server()) as server:
        asyncio.run(prove(server.dsn()))
        print(server.pid, server.folder, flush=True)
        sys.stdin.read()
""")


async def test_a_server_answers_over_its_socket_and_over_tcp(postgres_server: PostgresServer) -> None:
    for dsn in (postgres_server.dsn(), postgres_server.tcp_dsn()):
        connection = await asyncpg.connect(dsn)
        try:
            assert await connection.fetchval("SELECT 1") == 1
            assert connection.get_server_version().major == postgres_server.version
        finally:
            await connection.close()


async def test_a_server_is_durable_as_gnomon_demands(postgres_server: PostgresServer) -> None:
    connection = await asyncpg.connect(postgres_server.dsn())
    try:
        durable = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
        assert {
            name: await connection.fetchval("SELECT current_setting($1)", name) for name in durable
        } == durable
    finally:
        await connection.close()


async def test_a_stranger_without_the_password_is_refused_over_tcp(postgres_server: PostgresServer) -> None:
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres_server.tcp_dsn().replace(postgres_server.password, "guess"))


async def test_fresh_databases_do_not_see_each_other(
    postgres_server: PostgresServer, fresh_database: MakeDatabase
) -> None:
    first = await asyncpg.connect(await fresh_database(postgres_server))
    second = await asyncpg.connect(await fresh_database(postgres_server))
    try:
        await first.execute("CREATE TABLE notes (body text)")
        assert await second.fetchval("SELECT to_regclass('notes')") is None
    finally:
        await first.close()
        await second.close()


async def test_a_database_can_be_copied_from_a_template(
    postgres_server: PostgresServer, fresh_database: MakeDatabase
) -> None:
    template = await fresh_database(postgres_server)
    connection = await asyncpg.connect(template)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute("CREATE TABLE notes AS SELECT 'kept' AS body")
    await connection.close()

    copy = await asyncpg.connect(await fresh_database(postgres_server, template=name))
    try:
        assert await copy.fetchval("SELECT body FROM notes") == "kept"
    finally:
        await copy.close()


@pytest.mark.parametrize("name", EACH_SERVER)
async def test_committed_rows_survive_a_fast_and_an_immediate_restart(name: str) -> None:
    with PostgresServer(SERVERS[name]) as server:
        await run(server.dsn(), "CREATE TABLE notes (body text)")
        for mode in ("fast", "immediate"):
            await run(server.dsn(), f"INSERT INTO notes VALUES ('{mode}')")
            before = server.pid
            server.restart(mode)
            assert server.pid != before
        connection = await asyncpg.connect(server.dsn())
        assert await connection.fetchval("SELECT count(*) FROM notes") == 2
        await connection.close()


async def test_a_server_outlives_the_thread_that_restarted_it() -> None:
    with PostgresServer(SERVERS[BUNDLED]) as server:
        thread = threading.Thread(target=server.restart)
        thread.start()
        thread.join()
        await run(server.dsn(), "CREATE TABLE notes (body text)")
        assert "immediate shutdown" not in server.log()


def test_nothing_is_left_behind() -> None:
    with PostgresServer(SERVERS[BUNDLED]) as server:
        pid, folder = server.pid, server.folder
        assert pid is not None
        assert folder is not None
        members = session_members(pid)
        assert pid in members
    assert not folder.exists()
    assert session_members(pid) == set()


def test_a_test_run_that_is_killed_takes_its_server_with_it() -> None:
    program = start_program()
    pid, folder = place_of(program)
    program.kill()
    program.communicate()
    wait_until_gone(pid, folder)


def test_a_test_run_that_is_interrupted_stops_its_server() -> None:
    program = start_program()
    pid, folder = place_of(program)
    program.send_signal(signal.SIGINT)
    program.communicate()
    wait_until_gone(pid, folder)


def test_a_server_that_cannot_start_shows_its_log() -> None:
    with (
        pytest.raises(PostgresFailed, match="max_connections"),
        PostgresServer(bundled_server(), {"max_connections": "none"}),
    ):
        pass


def test_a_wrong_folder_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GNOMON_TEST_PG_BIN", str(tmp_path))
    with pytest.raises(PostgresFailed, match="GNOMON_TEST_PG_BIN names"):
        installed_servers()


def test_a_folder_in_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = bundled_server()
    monkeypatch.setenv("GNOMON_TEST_PG_BIN", str(bundled.home / "bin"))
    assert bundled.home in [server.home for server in installed_servers()]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_root_can_run_a_server_whose_programs_only_root_can_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir(mode=0o700)
    hidden = bundled_server().copied_to(secret)
    assert not hidden.everyone_can_run_it
    with PostgresServer(hidden) as server:
        assert server.pid is not None
        assert Path(f"/proc/{server.pid}").stat().st_uid == pwd.getpwnam("nobody").pw_uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_run_a_server() -> None:
    interpreter = interpreter_for_everyone()
    if interpreter is None or not everyone_can_read(Path(__file__), Path(asyncpg.__file__)):
        pytest.skip("this checkout, or every interpreter, lies where an ordinary user cannot read")
    nobody = pwd.getpwnam("nobody")
    program = start_program(interpreter, user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
    pid, folder = place_of(program)
    try:
        assert folder.stat().st_uid == nobody.pw_uid
        assert Path(f"/proc/{pid}").stat().st_uid == nobody.pw_uid
    finally:
        program.communicate()
    assert program.returncode == 0
    wait_until_gone(pid, folder)


async def run(dsn: str, sql: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


def start_program(
    interpreter: Path = Path(sys.executable), **identity: Unpack[Identity]
) -> subprocess.Popen[str]:
    packages = Path(asyncpg.__file__).parents[1]
    return subprocess.Popen(
        [str(interpreter), "-c", PROGRAM],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}{os.pathsep}{packages}", "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **identity,
    )


def place_of(program: subprocess.Popen[str]) -> tuple[int, Path]:
    assert program.stdout is not None
    line = program.stdout.readline()
    assert line, "the program ended before its server answered"
    pid, folder = line.split(maxsplit=1)
    return int(pid), Path(folder.strip())


def session_members(session: int) -> set[int]:
    """The live processes of a server: it and its workers share the session that it leads."""
    members = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # After the name, which may hold anything: state, parent, group, session.
            state, _, _, leader, *_ = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # It ended while we looked.
        if int(leader) == session and state != "Z":
            members.add(int(path.parent.name))
    return members


def wait_until_gone(pid: int, folder: Path) -> None:
    deadline = time.monotonic() + GONE_SECONDS_MAX
    while session_members(pid) or folder.exists():
        assert time.monotonic() < deadline, f"left behind: processes {session_members(pid)}, folder {folder}"
        time.sleep(0.02)


def interpreter_for_everyone() -> Path | None:
    """This interpreter, or the system's of the same version: the compiled packages fit both."""
    system = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    return next((path for path in (Path(sys.executable), system) if everyone_can_read(path)), None)


def everyone_can_read(*paths: Path) -> bool:
    nobody = pwd.getpwnam("nobody")
    return all(
        subprocess.run(["test", "-r", path], user=nobody.pw_uid, group=nobody.pw_gid, check=False).returncode
        == 0
        for path in paths
    )
