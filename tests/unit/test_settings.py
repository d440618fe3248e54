"""Settings: who wins, where a value came from, and what is a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.errors import InvalidInput
from gnomon.settings import Setting, settings, without_password

ENVIRONMENT = {"GNOMON_DATABASE": "ours.db", "DATABASE_URL": "everyones.db"}


def test_the_option_wins_over_everything(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    chosen = settings(database="asked.db", environment=ENVIRONMENT, folder=tmp_path)
    assert chosen.database == Setting("asked.db", "the option --database")


def test_our_own_variable_wins_over_the_usual_one(tmp_path: Path) -> None:
    chosen = settings(database=None, environment=ENVIRONMENT, folder=tmp_path)
    assert chosen.database == Setting("ours.db", "the environment variable GNOMON_DATABASE")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    environment = {"GNOMON_DATABASE": "", "DATABASE_URL": "everyones.db"}  # Empty is not set.
    chosen = settings(database=None, environment=environment, folder=tmp_path)
    assert chosen.database == Setting("everyones.db", "the environment variable DATABASE_URL")


def test_the_file_wins_over_the_default(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    chosen = settings(database=None, environment={}, folder=tmp_path)
    assert chosen.database == Setting("written.db", "the file gnomon.toml")


def test_without_a_word_from_anybody_it_is_a_file_in_the_current_folder(tmp_path: Path) -> None:
    chosen = settings(database=None, environment={}, folder=tmp_path)
    assert chosen.database == Setting("sqlite://gnomon.db", "the default")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('databse = "x"', "gnomon.toml: 'databse' is unknown; known: database."),
        ("database = 7", "gnomon.toml: database must be a text."),
        ('database = ""', "gnomon.toml: database must be a text."),
        ("database", "gnomon.toml: is not TOML: "),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, reason: str) -> None:
    write(tmp_path, text)
    with pytest.raises(InvalidInput) as refused:
        settings(database=None, environment={}, folder=tmp_path)
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:se%3Acret@host:5432/db?x=1", "postgresql://me:***@host:5432/db?x=1"),
        ("postgresql://me:a:b@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p@ss@host/db", "postgresql://me:***@host/db"),
        ("postgresql://me:p/w@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?user=me&password=secret&a=b", "postgresql://host/db?user=me&password=***&a=b"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("sqlite:///var/lib/gnomon.db", "sqlite:///var/lib/gnomon.db"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown


def write(folder: Path, text: str) -> None:
    (folder / "gnomon.toml").write_text(text, encoding="utf-8")
