"""Settings: who wins, where a value came from, and what is a mistake."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from gnomon.core.executions.retention import RetentionPolicy
from gnomon.errors import InvalidInput, InvalidSetting
from gnomon.logs import LogFormat, LogLevel
from gnomon.settings import TABLE, HandlerSettings, Reading, Setting, Settings, read, without_password
from gnomon.settings.table import Declared

ENVIRONMENT = {"GNOMON_DATABASE": "ours.db", "DATABASE_URL": "everyones.db"}


def test_the_option_wins_over_everything(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    found = reading(tmp_path, {"database": "asked.db"}, ENVIRONMENT)
    assert found.setting("database") == Setting("asked.db", "the option --database")


def test_our_own_variable_wins_over_the_usual_one(tmp_path: Path) -> None:
    found = reading(tmp_path, {}, ENVIRONMENT)
    assert found.setting("database") == Setting("ours.db", "the environment variable GNOMON_DATABASE")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    environment = {"GNOMON_DATABASE": "", "DATABASE_URL": "everyones.db"}  # Empty is not set.
    found = reading(tmp_path, {}, environment)
    assert found.setting("database") == Setting("everyones.db", "the environment variable DATABASE_URL")


def test_the_file_wins_over_the_default(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"')
    assert reading(tmp_path).setting("database") == Setting("written.db", "the file gnomon.toml")


def test_without_a_word_from_anybody_everything_is_as_declared(tmp_path: Path) -> None:
    found = reading(tmp_path)
    assert found.setting("database") == Setting("sqlite://gnomon.db", "the default")
    assert found.settings() == Settings()
    assert found.settings().handlers == HandlerSettings()
    assert found.settings().retention == RetentionPolicy()
    assert found.settings().worker.slots >= 4
    assert {found.setting(row.key).origin for row in TABLE} == {"the default"}


def test_the_default_database_lies_in_the_data_folder(tmp_path: Path) -> None:
    found = reading(tmp_path, {"data_folder": "/var/lib/gnomon"})
    assert found.settings().database == "sqlite:///var/lib/gnomon/gnomon.db"
    elsewhere = reading(tmp_path, {"data_folder": "/var/lib/gnomon", "database": "mine.db"})
    assert elsewhere.settings().database == "mine.db"


def test_scripts_cannot_open_what_opens_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    ours = ("gnomon.toml", f"{tmp_path}/.config/gnomon/profiles.toml")

    def hidden(database: str) -> tuple[str, ...]:
        return reading(tmp_path, {"database": database}).settings().handlers.script_hidden

    assert set(hidden("/data/gnomon.db")) == {"/data/gnomon.db", *ours}
    usual = {f"{tmp_path}/{file}" for file in (".pgpass", ".pg_service.conf", ".postgresql/postgresql.key")}
    assert set(hidden("postgresql://gnomon@db.example/gnomon")) == {*usual, *ours}
    monkeypatch.setenv("PGPASSFILE", "/run/pass")
    own = hidden("postgres://gnomon@db.example/gnomon?sslkey=/run/own.key&pooler=transaction")
    assert set(own) == {"/run/pass", f"{tmp_path}/.pg_service.conf", "/run/own.key", *ours}


def test_every_section_of_the_file_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        app = ["shop.jobs:app", "billing:app"]
        poll_seconds = 0.5
        [worker]
        slots = 7
        queues = ["mail", "default"]
        name = "ada"
        lease_seconds = 30
        recycle_after_jobs = 1000
        [scheduler]
        shards = true
        [retention]
        failed_days = 365
        [log]
        format = "json"
        level = "debug"
        [http]
        allow = ["10.0.0.0/8"]
        [script]
        cpu_seconds = 60
        user = "auto"
        """,
    )
    settings = reading(tmp_path).settings()
    assert settings.app == ("shop.jobs:app", "billing:app")
    assert settings.poll == timedelta(seconds=0.5)
    assert (settings.worker.slots, settings.worker.name) == (7, "ada")
    assert settings.worker.queues == {"mail", "default"}
    assert (settings.worker.lease, settings.worker.renew_every) == (
        timedelta(seconds=30),
        timedelta(seconds=10),
    )
    assert (settings.worker.recycle_after_jobs, settings.worker.recycle_above_mb) == (1000, None)
    assert settings.scheduler.shards
    assert settings.retention == RetentionPolicy(failed_days=365)
    assert (settings.log.format, settings.log.level) == (LogFormat.JSON, LogLevel.DEBUG)
    assert settings.handlers == HandlerSettings(
        http_allow=("10.0.0.0/8",), script_cpu=timedelta(minutes=1), script_user=None
    )


def test_the_environment_says_the_same_in_text(tmp_path: Path) -> None:
    environment = {
        "GNOMON_APP": "shop.jobs:app, billing:app,shop.jobs:app",
        "GNOMON_WORKER_SLOTS": " 7 ",
        "GNOMON_WORKER_QUEUES": "mail,default",
        "GNOMON_WORKER_RECYCLE_ABOVE_MB": "off",
        "GNOMON_SCHEDULER_SHARDS": "On",
        "GNOMON_LOG_LEVEL": "WARNING",
        "GNOMON_HTTP_TIMEOUT_SECONDS": "2.5",
    }
    write(tmp_path, "[worker]\nrecycle_above_mb = 512")
    found = reading(tmp_path, {}, environment)
    settings = found.settings()
    assert settings.app == ("shop.jobs:app", "billing:app")
    assert (settings.worker.slots, settings.worker.queues) == (7, frozenset({"mail", "default"}))
    assert settings.worker.recycle_above_mb is None  # The environment takes back what the file says.
    assert settings.scheduler.shards
    assert settings.log.level is LogLevel.WARNING
    assert settings.handlers.http_timeout == timedelta(seconds=2.5)
    assert found.warnings == []


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row.key))
def test_what_is_shown_of_a_setting_can_be_written_again(tmp_path: Path, row: Declared) -> None:
    value = reading(tmp_path).setting(row.key).value
    assert row.kind.read(row.kind.show(value)) == value


def test_another_file_can_be_named_and_must_exist(tmp_path: Path) -> None:
    write(tmp_path, 'database = "written.db"', name="other.toml")
    for options, environment in (({"config": "other.toml"}, {}), ({}, {"GNOMON_CONFIG": "other.toml"})):
        found = reading(tmp_path, options, environment)
        assert found.setting("database") == Setting("written.db", "the file other.toml")
    with pytest.raises(InvalidInput, match=r"missing\.toml: cannot be read: No such file or directory\."):
        reading(tmp_path, {"config": "missing.toml"}).settings()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('databse = "x"', "gnomon.toml: 'databse' is unknown. Did you mean 'database'?"),
        ("[worker]\nslot = 3", "gnomon.toml: 'worker.slot' is unknown. Did you mean 'worker.slots'?"),
        ("slots = 3", "gnomon.toml: 'slots' is unknown. Did you mean 'worker.slots'?"),
        ("[moon]\nphase = 3", "gnomon.toml: 'moon' is unknown. All of them: gnomon config show"),
        ("worker = 3", "gnomon.toml: 'worker' is unknown."),
        ('config = "x"', "gnomon.toml: 'config' is unknown."),
        ("database = 7", "database: 7, from the file gnomon.toml, is not accepted; give an address such as "),
        ('database = ""', "database: '', from the file gnomon.toml, is not accepted; give an address such"),
        ("database", "gnomon.toml: is not TOML: "),
        ("a = " + "[" * 10_000, "gnomon.toml: is not TOML: "),
        ("[database]\na = 1", "database: {'a': 1}, from the file gnomon.toml, is not accepted"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, reason: str) -> None:
    write(tmp_path, text)
    with pytest.raises(InvalidInput) as refused:
        reading(tmp_path).settings()
    assert str(refused.value).startswith(reason)


@pytest.mark.parametrize(
    ("variable", "value", "accepted"),
    [
        ("GNOMON_WORKER_SLOTS", "many", "a whole number from 1 to 10000"),
        ("GNOMON_WORKER_SLOTS", "0", "a whole number from 1 to 10000"),
        ("GNOMON_WORKER_SLOTS", "1.5", "a whole number from 1 to 10000"),
        ("GNOMON_WORKER_SLOTS", "9" * 5000, "a whole number from 1 to 10000"),
        ("GNOMON_WORKER_LEASE_SECONDS", "1.9", "a number of seconds from 2 to 600"),
        ("GNOMON_WORKER_LEASE_SECONDS", "nan", "a number of seconds from 2 to 600"),
        ("GNOMON_WORKER_LEASE_SECONDS", "1e999", "a number of seconds from 2 to 600"),
        ("GNOMON_WORKER_QUEUES", " , ", "names with commas between, at least 1"),
        ("GNOMON_WORKER_QUEUES", "a,b\nc", "names with commas between, at least 1"),
        ("GNOMON_WORKER_NAME", "x" * 256, "a name of at most 255 characters, or auto"),
        ("GNOMON_WORKER_RECYCLE_AFTER_JOBS", "never", "a whole number from 1 to 1000000000000, or off"),
        ("GNOMON_SCHEDULER_SHARDS", "maybe", "on or off"),
        ("GNOMON_LOG_FORMAT", "xml", "one of auto, human, json"),
        (
            "GNOMON_APP",
            "shop.jobs",
            "a list, with commas between, each of it a module and what is in it, such",
        ),
        ("GNOMON_DATA_FOLDER", "~nobody-of-this-name/x", "the path of a file or a folder"),
        ("GNOMON_DATABASE", "a\udcffb", "an address such as"),
        ("GNOMON_RETENTION_FAILED_DAYS", "0", "a whole number from 1 to 36600"),
    ],
)
def test_a_bad_value_is_told_with_its_origin_and_what_is_accepted(
    tmp_path: Path, variable: str, value: str, accepted: str
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        reading(tmp_path, {}, {variable: value}).settings()
    assert refused.value.origin == f"the environment variable {variable}"
    assert refused.value.accepted.startswith(accepted)
    assert refused.value.value in (repr(value), repr(value)[:99] + "…")
    assert refused.value.details["field"] == refused.value.field


@pytest.mark.parametrize("host", ["no..where", f"{'a' * 64}.example", "ä" * 63])
def test_a_host_that_no_name_server_could_know_is_refused(tmp_path: Path, host: str) -> None:
    for name, value in [("API_HOST", host), ("HEALTH_HOST", host), ("SERVER", f"http://{host}:8484")]:
        with pytest.raises(InvalidSetting, match=r"is not accepted; give "):
            reading(tmp_path, {}, {f"GNOMON_{name}": value}).settings()
    known = reading(tmp_path, {}, {"GNOMON_API_HOST": "bücher.example"}).settings()
    assert known.api.host == "bücher.example"


def test_a_password_in_the_address_of_a_server_is_refused_and_not_shown(tmp_path: Path) -> None:
    """It would be in the list of processes and in the log, and the API takes a key and no password."""
    with pytest.raises(InvalidSetting) as refused:
        reading(tmp_path, {"server": "http://ada:s3cret@gnomon.example"}).settings()
    assert "s3cret" not in str(refused.value)
    assert "without user and password" in str(refused.value)


@pytest.mark.parametrize("value", ["true", "[1]", "{}", "1979-05-27", "inf", "[[]]", "-1"])
@pytest.mark.parametrize("row", [row for row in TABLE if row.in_file], ids=lambda row: str(row.key))
def test_no_value_of_toml_raises_anything_but_a_mistake(tmp_path: Path, row: Declared, value: str) -> None:
    write(tmp_path, f"{row.key} = {value}")
    assert isinstance(reading(tmp_path).found[row.key], Setting | InvalidSetting)


def test_one_bad_value_does_not_hide_the_others(tmp_path: Path) -> None:
    write(tmp_path, 'databse = "x"\n[worker]\nslots = "many"\nname = "ada"')
    found = reading(tmp_path)
    assert isinstance(found.found["worker.slots"], InvalidSetting)
    assert found.setting("worker.name") == Setting("ada", "the file gnomon.toml")
    assert [str(mistake) for mistake in found.mistakes] == [
        "gnomon.toml: 'databse' is unknown. Did you mean 'database'?"
    ]


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("GNOMON_WORKER_SLOT", " Did you mean 'GNOMON_WORKER_SLOTS'?"),
        ("GNOMON_SLOTS", " Did you mean 'GNOMON_WORKER_SLOTS'?"),
        ("GNOMON_LEASE", " Did you mean 'GNOMON_WORKER_LEASE_SECONDS'?"),
        ("GNOMON_MOON", " All of them: gnomon config show"),
    ],
)
def test_a_variable_that_may_be_a_typing_mistake_is_a_warning(
    tmp_path: Path, variable: str, meant: str
) -> None:
    environment = {
        variable: "secret",
        "GNOMON_TEST_PG_BIN": "x",
        "GNOMON_FAILPOINTS": "x",
        "GNOMON_EMPTY": "",
    }
    found = reading(tmp_path, {}, environment)
    assert found.settings() == Settings()
    assert found.warnings == [f"The environment variable {variable} is unknown, so ignored.{meant}"]


@pytest.mark.parametrize(
    ("database", "mode", "is_told"),
    [
        ("postgresql://me:secret@host/db", 0o644, True),
        ("postgresql://me:secret@host/db", 0o640, False),
        ("postgresql://me@host/db", 0o644, False),
    ],
)
def test_a_password_in_a_file_that_all_can_read_is_told(
    tmp_path: Path, database: str, mode: int, is_told: bool
) -> None:
    write(tmp_path, f'database = "{database}"')
    file = tmp_path / "gnomon.toml"
    file.chmod(mode)
    told = f"All users of this machine can read the password in {file}. Run: chmod 600 {file}"
    assert reading(tmp_path).warnings == ([told] if is_told else [])


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


def test_a_password_is_not_shown_in_an_error_either(tmp_path: Path) -> None:
    found = reading(tmp_path, {"database": "postgresql://me:secret@host/db\n"})
    assert found.settings().database == "postgresql://me:secret@host/db"  # A line end is forgiven.
    with pytest.raises(InvalidSetting) as refused:
        reading(tmp_path, {"database": "postgresql://me:secret@host/d\tb"}).settings()
    assert "secret" not in str(refused.value) + str(refused.value.details)


@pytest.mark.parametrize("address", ["host=db password=secret dbname=x", " password = secret"])
def test_an_address_in_words_and_values_is_no_path_of_a_file(tmp_path: Path, address: str) -> None:
    with pytest.raises(InvalidSetting, match="such as sqlite:") as refused:
        reading(tmp_path, {"database": address}).settings()
    assert "secret" not in str(refused.value) + str(refused.value.details)


def test_a_key_is_never_shown(tmp_path: Path) -> None:
    found = reading(tmp_path, environment={"GNOMON_KEY": "gnm_secret"})
    assert found.settings().key == "gnm_secret"
    [row] = [row for row in TABLE if row.key == "key"]
    assert row.kind.show(found.setting("key").value) == "***"
    with pytest.raises(InvalidSetting) as refused:
        reading(tmp_path, environment={"GNOMON_KEY": "gnm_\tsecret"}).settings()
    assert "secret" not in str(refused.value) + str(refused.value.details)


def reading(
    folder: Path, options: dict[str, str] | None = None, environment: dict[str, str] | None = None
) -> Reading:
    return read(options=options or {}, environment=environment or {}, folder=folder)


def write(folder: Path, text: str, *, name: str = "gnomon.toml") -> None:
    (folder / name).write_text(text, encoding="utf-8")
