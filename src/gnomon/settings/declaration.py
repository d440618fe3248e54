"""Every setting of Gnomon. There is no other list: options, variables, keys and errors follow from it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import Field, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from gnomon.core.executions.lease import CLAIM_LIMIT_MAX, LEASE, RENEW_EVERY
from gnomon.core.executions.retention import DAYS_MAX, RetentionPolicy
from gnomon.core.operations.workers import SLOTS_MAX
from gnomon.logs import LogFormat, LogLevel
from gnomon.settings.api import ApiSettings
from gnomon.settings.kinds import (
    APP,
    INTERFACE,
    NAME,
    URL,
    FilePath,
    ListenAddress,
    Many,
    Maybe,
    Names,
    OneOf,
    Seconds,
    Secret,
    Switch,
    Text,
    Whole,
)
from gnomon.settings.secret_files import secret_files
from gnomon.settings.table import Said, section, setting, table

FILE_NAME = "gnomon.toml"
DATABASE_NAME = "gnomon.db"
HERE = Path()
DAY_SECONDS = 86_400
BYTES_MAX = 1 << 50
MEGABYTES_MAX = 1 << 30


def _slots() -> int:
    """Jobs mostly wait, so more of them than there are cores; and a small machine is no reason for one."""
    return max(4, 2 * len(os.sched_getaffinity(0)))


def _database(values: Mapping[str, Any]) -> str:
    return f"sqlite://{values.get('data_folder', HERE) / DATABASE_NAME}"


def _days(each: Field[Any]) -> Said:
    ended = each.name.removesuffix("_days").upper()
    return Said(Whole(1, DAYS_MAX), f"Days for which an execution that ended {ended} is kept.")


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    slots: int = setting(
        Whole(1, SLOTS_MAX), _slots, "How many executions run at once in one worker.", option="--slots"
    )
    queues: frozenset[str] = setting(
        Names(at_least=1), frozenset({"default"}), "Which queues it takes work from.", option="--queues"
    )
    capabilities: frozenset[str] = setting(
        Names(), frozenset(), "What it can do that not every worker can.", option="--capabilities"
    )
    name: str | None = setting(
        Maybe("auto", NAME), None, "Its name. With auto, its host and process id make the name."
    )
    drain: timedelta = setting(
        Seconds(0, DAY_SECONDS),
        timedelta(seconds=25),
        "How long running executions may go on after SIGTERM, before they are handed back.",
        key="drain_seconds",
    )
    lease: timedelta = setting(
        Seconds(2, 600),
        LEASE,
        "How long a silent worker keeps its executions. Renewed at a third of it.",
        key="lease_seconds",
    )
    recycle_after_jobs: int | None = setting(
        Maybe("off", Whole(1, 10**12)), None, "Drain and start anew after so many executions."
    )
    recycle_above_mb: int | None = setting(
        Maybe("off", Whole(16, MEGABYTES_MAX)),
        None,
        "Drain and start anew above so many megabytes of memory.",
    )

    @property
    def renew_every(self) -> timedelta:
        return self.lease * (RENEW_EVERY / LEASE)


@dataclass(frozen=True, slots=True)
class StartupSettings:
    wait: timedelta = setting(
        Seconds(0, DAY_SECONDS),
        timedelta(seconds=60),
        "How long a process that starts waits for a database or a server that does not answer.",
        key="wait_seconds",
    )


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    batch: int = setting(Whole(1, CLAIM_LIMIT_MAX), 500, "How many due jobs one step fires at most.")
    shards: bool = setting(
        Switch(), True, "Share the jobs out among all schedulers, instead of each looking at all."
    )


@dataclass(frozen=True, slots=True)
class DagSettings:
    tasks_max: int = setting(Whole(1, 1_000_000), 20_000, "How many tasks a workflow may have.")
    edges_max: int = setting(Whole(1, 10_000_000), 100_000, "How many dependencies its tasks may have.")


@dataclass(frozen=True, slots=True)
class HealthSettings:
    """Of processes without an API."""

    host: str = setting(
        INTERFACE,
        "127.0.0.1",
        "Where a scheduler or a worker without an API serves its probes and metrics.",
    )
    port: int | None = setting(
        Maybe("off", Whole(1, 65_535)),
        None,
        "The port of these probes and metrics. With off, there are none.",
    )


@dataclass(frozen=True, slots=True)
class LogSettings:
    format: LogFormat = setting(
        OneOf(LogFormat),
        LogFormat.AUTO,
        "Lines for people (human) or for programs (json). With auto: human on a terminal, else json.",
    )
    level: LogLevel = setting(OneOf(LogLevel), LogLevel.INFO, "The least important lines to write.")


@dataclass(frozen=True, slots=True)
class HandlerSettings:
    """What a worker allows its handlers. Every factory of a handler is given this."""

    # Where the functions are, as `module:attribute`. No setting of its own: who puts a worker together takes
    # it from `app`.
    functions: str | None = None
    enabled: frozenset[str] | None = setting(
        Maybe("all", Names(at_least=1, in_any_case=True)),
        None,
        "Which kinds this process may run, and which it lets be saved. With all: those that are installed.",
        key="handlers.enabled",
    )
    function_grace: timedelta = setting(
        Seconds(0, DAY_SECONDS),
        timedelta(seconds=5),
        "How long a function in a thread may take to come to an end when it must.",
        key="worker.function_grace_seconds",
    )
    http_allow: tuple[str, ...] = setting(
        Many(Text("a host, an address or a network")),
        (),
        "Hosts, addresses and networks that jobs may call although the guard would refuse them.",
        key="http.allow",
    )
    http_timeout: timedelta = setting(
        Seconds(0.001, DAY_SECONDS),
        timedelta(seconds=30),
        "How long one call may take, where a job says nothing.",
        key="http.timeout_seconds",
    )
    # How much of everything a script may use. Processes are counted on top of what the user runs already.
    script_user: str | None = setting(
        Maybe("auto", NAME),
        None,
        "The user that runs scripts. With auto: nobody if the worker is root, else the worker's own user.",
        key="script.user",
    )
    script_folder: Path | None = setting(
        Maybe("auto", FilePath()),
        None,
        "Where scripts get their working folders. With auto: where the system keeps temporary files.",
        key="script.folder",
    )
    script_isolation: bool = setting(
        Switch(),
        True,
        "Keep scripts that run as the worker's own user from its memory, environment and hidden files.",
        key="script.isolation",
    )
    script_hidden: tuple[str, ...] = setting(
        Many(Text("the path of a file or a folder")),
        lambda: secret_files({"config": FILE_NAME, "database": DATABASE_NAME}),
        "Files and folders that scripts which run as the worker's own user cannot open.",
        key="script.hidden",
        derived=secret_files,
    )
    script_environment: frozenset[str] = setting(
        Names(),
        frozenset({"PATH", "LANG", "LC_ALL", "TZ"}),
        "Environment variables of the worker that scripts see. All others are hidden from them.",
        key="script.environment",
    )
    script_grace: timedelta = setting(
        Seconds(0, DAY_SECONDS),
        timedelta(seconds=5),
        "How long a script may take to end after SIGTERM, before it is killed.",
        key="script.grace_seconds",
    )
    script_cpu: timedelta = setting(
        Seconds(1, 365 * DAY_SECONDS),
        timedelta(hours=1),
        "Processor time that a script may use.",
        key="script.cpu_seconds",
    )
    script_memory_bytes: int = setting(
        Whole(1 << 20, BYTES_MAX), 4 * 1024**3, "Memory that a script may use.", key="script.memory_bytes"
    )
    script_file_bytes: int = setting(
        Whole(0, BYTES_MAX), 1024**3, "Size of one file that a script may write.", key="script.file_bytes"
    )
    script_open_files: int = setting(
        Whole(8, 1 << 20), 256, "Files that a script may have open at once.", key="script.open_files"
    )
    script_processes: int = setting(
        Whole(1, 1 << 22), 256, "Processes that a script may have at once.", key="script.processes"
    )


@dataclass(frozen=True, slots=True)
class Settings:
    config: Path = setting(
        FilePath(),
        Path(FILE_NAME),
        "The file with settings, in TOML. The default need not exist.",
        in_file=False,
    )
    data_folder: Path = setting(
        FilePath(), HERE, "Where Gnomon keeps its files, unless told otherwise. It must exist."
    )
    database: str = setting(
        ListenAddress(),
        f"sqlite://{DATABASE_NAME}",
        "`postgresql://user@host/name`, `sqlite:///path/to/file`, or the path of a file.",
        also=("DATABASE_URL",),
        derived=_database,
    )
    app: tuple[str, ...] = setting(
        Many(APP), (), "Where your jobs and functions are: `module:attribute`, with commas between."
    )
    poll: timedelta = setting(
        Seconds(0.01, 3600),
        timedelta(seconds=1),
        "How long a service with nothing to do pauses when nothing wakes it.",
        key="poll_seconds",
    )
    server: str | None = setting(
        Maybe("auto", URL), None, "The server that commands talk to. With auto: that of the profile."
    )
    key: str | None = setting(
        Maybe("auto", Secret("an API key, which begins with gnm_")),
        None,
        "The API key for that server. With auto: that of the profile.",
        in_file=False,
    )
    profile: str = setting(NAME, "default", "Which profile of the profile file to use.", in_file=False)
    startup: StartupSettings = section(StartupSettings, "startup")
    worker: WorkerSettings = section(WorkerSettings, "worker")
    scheduler: SchedulerSettings = section(SchedulerSettings, "scheduler")
    retention: RetentionPolicy = section(RetentionPolicy, "retention", each=_days)
    dag: DagSettings = section(DagSettings, "dag")
    api: ApiSettings = section(ApiSettings, "api")
    health: HealthSettings = section(HealthSettings, "health")
    log: LogSettings = section(LogSettings, "log")
    handlers: HandlerSettings = section(HandlerSettings, "")


TABLE = table(Settings)
