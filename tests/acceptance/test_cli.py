"""The program as a person meets it: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon import __version__
from gnomon.settings import TABLE
from gnomon.store.schema.migrations import migrations
from tests.conftest import BUNDLED, MakeDatabase, StartServer
from tests.postgres import PostgresServer, free_port

GNOMON = Path(sys.executable).with_name("gnomon")


def test_a_new_user_is_led_from_help_to_a_database_that_may_be_used(tmp_path: Path) -> None:
    assert "gnomon db migrate" in gnomon(tmp_path, "--help").stdout
    assert "gnomon db migrate --sql > migration.sql" in gnomon(tmp_path, "db", "migrate", "--help").stdout

    before = gnomon(tmp_path, "db", "check")
    assert before.returncode == 1
    assert "Refused: The database has no schema of Gnomon yet" in before.stdout
    assert list(tmp_path.iterdir()) == []  # To look makes nothing.

    first = gnomon(tmp_path, "db", "migrate")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.splitlines() == [
        "Database: sqlite://gnomon.db (from the default)",
        *(f"{one.number:04} {one.name}: done" for one in migrations("sqlite")),
        f"{len(migrations('sqlite'))} migration(s) run.",
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
        (["db", "check", "--database", ""], 2),
        (["db", "check", "--config", "missing.toml"], 2),
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
    *warnings, line = answer.stderr.splitlines()
    assert re.fullmatch(r"gnomon: .+ \[[A-Z_]+\]", line)
    assert "secret" not in answer.stdout + answer.stderr
    assert len(warnings) == any("secret" in word for word in words)  # A password is not for arguments.


def test_every_setting_is_shown_with_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('[worker]\nslots = 7\nqueues = ["mail", "default"]')
    words = ["config", "show", "--config", "other.toml", "--log-level", "debug"]
    answer = gnomon(tmp_path, *words, DATABASE_URL="postgresql://me:secret@host/db")
    assert (answer.returncode, answer.stderr) == (0, "")
    rows = {key: rest for key, *rest in (re.split(r"  +", line) for line in answer.stdout.splitlines())}
    assert rows["SETTING"] == ["VALUE", "FROM"]
    assert rows["database"] == ["postgresql://me:***@host/db", "the environment variable DATABASE_URL"]
    assert rows["worker.slots"] == ["7", "the file other.toml"]
    assert rows["worker.queues"] == ["default,mail", "the file other.toml"]
    assert rows["log.level"] == ["debug", "the option --log-level"]
    assert rows["retention.failed_days"] == ["90", "the default"]
    assert len(rows) == len(TABLE) + 1


def test_a_bad_setting_is_shown_in_its_place_and_stops_every_other_command(tmp_path: Path) -> None:
    (tmp_path / "gnomon.toml").write_text("[worker]\nslots = 7\nmoon = 1")
    bad = {"GNOMON_LOG_LEVEL": "loud", "GNOMON_WORKER_SLOT": "secret"}

    table = gnomon(tmp_path, "config", "show", **bad)
    assert table.returncode == 2
    assert "log.level" in table.stdout
    wrong = "WRONG: 'loud'; give one of debug, info, warning, error"
    assert [line.split(wrong)[1].strip() for line in table.stdout.splitlines() if wrong in line] == [
        "the environment variable GNOMON_LOG_LEVEL"
    ]
    assert "Wrong: gnomon.toml: 'worker.moon' is unknown." in table.stdout
    assert "GNOMON_WORKER_SLOT is unknown, so ignored. Did you mean 'GNOMON_WORKER_SLOTS'?" in table.stdout

    printed = gnomon(tmp_path, "config", "show", "--output", "json", **bad)
    assert printed.returncode == 2
    shown = json.loads(printed.stdout)
    settings = {each["name"]: each for each in shown["settings"]}
    assert settings["worker.slots"] == {
        "name": "worker.slots",
        "value": 7,
        "origin": "the file gnomon.toml",
    }
    assert settings["log.level"]["error"].startswith("log.level: 'loud', from the environment variable")
    assert [len(shown["mistakes"]), len(shown["warnings"])] == [1, 1]
    assert "secret" not in table.stdout + printed.stdout

    (tmp_path / "gnomon.toml").unlink()
    check = gnomon(tmp_path, "db", "check", **bad)
    assert (check.returncode, check.stdout) == (2, "")
    assert check.stderr.endswith("give one of debug, info, warning, error. [INVALID_SETTING]\n")


def test_even_a_file_that_is_no_toml_does_not_keep_the_rest_from_being_shown(tmp_path: Path) -> None:
    (tmp_path / "gnomon.toml").write_bytes(b"\xff")
    answer = gnomon(tmp_path, "config", "show", "--database", "asked.db")
    assert answer.returncode == 2
    assert "asked.db" in answer.stdout
    assert "Wrong: gnomon.toml: is not TOML" in answer.stdout


def test_a_variable_that_may_be_a_typing_mistake_is_a_warning(tmp_path: Path) -> None:
    answer = gnomon(tmp_path, "db", "migrate", GNOMON_DATABAS="x.db")
    assert answer.returncode == 0
    assert answer.stderr == (
        "gnomon: warning: The environment variable GNOMON_DATABAS is unknown, so ignored. "
        "Did you mean 'GNOMON_DATABASE'?\n"
    )


def test_files_are_for_their_owner_whatever_the_umask(tmp_path: Path) -> None:
    words = shlex.join([str(GNOMON), "db", "migrate", "--database", str(tmp_path / "gnomon.db")])
    subprocess.run(["sh", "-c", f"umask 000 && {words}"], cwd=tmp_path, check=True, capture_output=True)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


# What a command that stays does first; there is none yet.
SERVICE = """
import logging
from gnomon.cli.session.options import start
settings = start(database="asked.db", log_level="info")
logging.getLogger("gnomon.service").info("ready", extra={"database": settings.database})
"""


def test_a_command_that_stays_logs_as_the_settings_say(tmp_path: Path) -> None:
    for form, expected in (("json", "{"), ("human", "INFO    service ready database=asked.db")):
        done = subprocess.run(
            [sys.executable, "-c", SERVICE],
            cwd=tmp_path,
            env=os.environ | {"GNOMON_LOG_FORMAT": form, "GNOMON_LOG_FORMATT": "x"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        warning, ready = done.stderr.splitlines()
        assert "GNOMON_LOG_FORMATT is unknown" in warning
        assert expected in ready


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
    assert "gnomon db migrate" in before.stdout
    assert gnomon(tmp_path, "db", "migrate", "--database", url).returncode == 0
    after = gnomon(tmp_path, "db", "check", "--database", url)
    assert after.returncode == 0
    newest = migrations("postgres")[-1]
    assert f"Schema: at {newest.number:04} ({newest.name})" in after.stdout


def test_a_wrong_password_is_one_line_too(postgres: StartServer, tmp_path: Path) -> None:
    server = postgres(BUNDLED)
    url = server.tcp_dsn().replace(server.password, "wrong")
    answer = gnomon(tmp_path, "db", "check", DATABASE_URL=url)
    assert answer.returncode == 1
    [line] = answer.stderr.splitlines()
    assert line.startswith("gnomon: PostgreSQL does not let us in: password authentication failed")


def gnomon(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GNOMON_") and name != "DATABASE_URL"
    }
    return subprocess.run(
        [GNOMON, *words],
        cwd=folder,
        env=environment | {"COLUMNS": "110"} | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
