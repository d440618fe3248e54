"""The program as a person meets it: what it prints, where, and with which exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import __version__
from tests.conftest import BUNDLED, MakeDatabase, StartServer
from tests.postgres import PostgresServer, free_port

GNOMON = Path(sys.executable).with_name("gnomon")
WITHOUT = ("GNOMON_DATABASE", "DATABASE_URL")


def test_a_new_user_is_led_from_help_to_a_database_that_may_be_used(tmp_path: Path) -> None:
    assert "gnomon db migrate" in gnomon(tmp_path, "--help").stdout
    assert "gnomon db migrate --sql > migration.sql" in gnomon(tmp_path, "db", "migrate", "--help").stdout

    before = gnomon(tmp_path, "db", "check")
    assert before.returncode == 1
    assert "Refused: The schema is too old" in before.stdout
    assert list(tmp_path.iterdir()) == []  # To look makes nothing.

    first = gnomon(tmp_path, "db", "migrate")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.splitlines() == [
        "Database: sqlite://gnomon.db (from the default)",
        "0001 foundation: done",
        "0002 gates: done",
        "2 migration(s) run.",
    ]
    assert gnomon(tmp_path, "db", "migrate").stdout.endswith("Nothing to do: the schema is up to date.\n")

    after = gnomon(tmp_path, "db", "check")
    assert after.returncode == 0
    assert after.stdout.endswith("Gnomon may run on this database.\n")


def test_the_script_is_printed_without_making_a_file(tmp_path: Path) -> None:
    printed = gnomon(tmp_path, "db", "migrate", "--sql")
    assert printed.returncode == 0
    assert printed.stdout.startswith(".bail on\n")
    assert "INSERT INTO schema_migrations" in printed.stdout
    assert list(tmp_path.iterdir()) == []


def test_settings_come_from_the_file_then_the_environment_then_the_option(tmp_path: Path) -> None:
    (tmp_path / "gnomon.toml").write_text('database = "written.db"')
    assert "written.db (from the file gnomon.toml)" in gnomon(tmp_path, "db", "check").stdout
    said = gnomon(tmp_path, "db", "check", DATABASE_URL="said.db")
    assert "said.db (from the environment variable DATABASE_URL)" in said.stdout
    asked = gnomon(tmp_path, "db", "check", "--database", "asked.db", DATABASE_URL="said.db")
    assert "asked.db (from the option --database)" in asked.stdout


@pytest.mark.parametrize(
    ("words", "exit_code"),
    [
        (["db", "check", "--database", "mysql://host/db"], 2),
        (["db", "migrate", "--database", "postgresql://host/db?pooler=odd"], 2),
        (["db", "check", "--database", "postgresql://host:abc/db"], 2),
        (["db", "check", "--database", "postgresql://[::1/db"], 2),
        (["db", "check", "--database", "postgresql://host/db?sslmode=odd"], 2),
        (["db", "migrate", "--database", "sqlite:///missing-folder/gnomon.db"], 1),
        (["db", "migrate", "--database", f"postgresql://me:secret@127.0.0.1:{free_port()}/db"], 1),
    ],
)
def test_an_error_is_one_line_without_a_traceback_or_a_password(
    tmp_path: Path, words: list[str], exit_code: int
) -> None:
    answer = gnomon(tmp_path, *words)
    assert answer.returncode == exit_code
    [line] = answer.stderr.splitlines()
    assert line.startswith("gnomon: ")
    assert "secret" not in answer.stdout + answer.stderr


def test_wrong_usage_ends_with_two(tmp_path: Path) -> None:
    for words in (["db", "nothing"], ["db", "migrate", "--databse", "x"], ["nothing"]):
        answer = gnomon(tmp_path, *words)
        assert answer.returncode == 2
        assert "Usage: gnomon" in answer.stderr
        assert "Traceback" not in answer.stderr


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert gnomon(tmp_path, "version").stdout == f"{__version__}\n"


async def test_check_names_the_server_and_every_refusal(
    postgres_server: PostgresServer, fresh_database: MakeDatabase, tmp_path: Path
) -> None:
    url = await fresh_database(postgres_server)
    before = gnomon(tmp_path, "db", "check", "--database", url)
    assert before.returncode == 1
    assert f"Server: PostgreSQL {postgres_server.version}" in before.stdout
    assert "Schema: none yet" in before.stdout
    assert "Run: gnomon db migrate" in before.stdout
    assert gnomon(tmp_path, "db", "migrate", "--database", url).returncode == 0
    after = gnomon(tmp_path, "db", "check", "--database", url)
    assert after.returncode == 0
    assert "Schema: at 0002 (gates)" in after.stdout


def test_a_wrong_password_is_one_line_too(postgres: StartServer, tmp_path: Path) -> None:
    server = postgres(BUNDLED)
    url = server.tcp_dsn().replace(server.password, "wrong")
    answer = gnomon(tmp_path, "db", "check", "--database", url)
    assert answer.returncode == 1
    [line] = answer.stderr.splitlines()
    assert line.startswith("gnomon: PostgreSQL does not let us in: password authentication failed")


def gnomon(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in WITHOUT}
    return subprocess.run(
        [GNOMON, *words],
        cwd=folder,
        env=environment | {"COLUMNS": "110"} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
