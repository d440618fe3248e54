"""Figures in the documentation are those of the code: a number that is a constant is held against it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests.house.conftest import Plant
from tests.house.pages import read
from tests.house.tree import ROOT

HOW_IT_RUNS = "docs/explanation/how-it-runs.md"
API = "docs/reference/api.md"
HANDLERS = "docs/reference/handlers.md"
METRICS = "docs/reference/metrics.md"
MIGRATE = "docs/how-to/migrate-the-database.md"
ON_POSTGRES = "docs/how-to/run-on-postgresql.md"
REASONS = "docs/reference/reasons.md"
RETRIES = "docs/reference/retries.md"
SCHEDULES = "docs/reference/schedules.md"
SETTINGS = "docs/reference/settings.md"
STATUSES = "docs/reference/statuses.md"
STORES = "docs/reference/stores.md"
WORKFLOWS = "docs/reference/workflows.md"

UNITS = {
    "ms": 0.001, "s": 1, "second": 1, "seconds": 1, "minute": 60, "minutes": 60, "h": 3600, "days": 86_400,
    "MB": 1_000_000, "KiB": 1 << 10, "MiB": 1 << 20,
}  # fmt: skip
WORDS = {"": 1, "a": 1, "two": 2, "five": 5, "ten": 10}
NUMBER = rf"(?P<number>[\d,.]*\d|{'|'.join(filter(None, WORDS))}|)[ ]?(?P<unit>{'|'.join(UNITS)}|)\b"


@dataclass(frozen=True)
class Figure:
    """What a page says, with `#` where the figure stands, and the constant that it is."""

    page: str
    said: str
    constant: str

    def __str__(self) -> str:
        return f"{Path(self.page).stem}: {self.said}"


FIGURES = [
    Figure(HOW_IT_RUNS, "decides about up to # due jobs", "engine.schedulers.scheduler:BATCH"),
    Figure(HOW_IT_RUNS, "at the next due time, at most # later", "engine.service:POLL"),
    Figure(HOW_IT_RUNS, "among the live schedulers | every #", "engine.schedulers.shards:INTERVAL"),
    Figure(HOW_IT_RUNS, "whose lease has run out | every #", "engine.schedulers.reaper:INTERVAL"),
    Figure(HOW_IT_RUNS, "and was forgotten | every #", "engine.schedulers.sweeper:INTERVAL"),
    Figure(HOW_IT_RUNS, "Every # it also looks for runs", "engine.schedulers.conductor:REST"),
    Figure(HOW_IT_RUNS, "what retention lets go | every #", "engine.schedulers.maintenance:BETWEEN_CHORES"),
    Figure(HOW_IT_RUNS, "writes log lines and checkpoints | #", "engine.workers.notebook:GATHER"),
    Figure(HOW_IT_RUNS, "allow | every #", "engine.workers.recycler:INTERVAL"),
    Figure(HOW_IT_RUNS, "left on the machine | every #", "engine.workers.tidier:INTERVAL"),
    Figure(HOW_IT_RUNS, "what time it is | every #", "engine.clock:LEARN_EVERY"),
    Figure(HOW_IT_RUNS, "fires and claims nothing | every #", "engine.schema_watch:EVERY"),
    Figure(HOW_IT_RUNS, "when keys were last used | every #", "client.access.key_uses:EVERY"),
    Figure(HOW_IT_RUNS, "was too much to say | every #", "cli.output.narration:WINDOW"),
    Figure(HOW_IT_RUNS, "with pauses of at most #", "engine.service:PAUSE_AFTER_TROUBLE_MAX"),
    Figure(HOW_IT_RUNS, "the jobs are divided into # shards", "core.jobs.job:SHARDS"),
    Figure(HOW_IT_RUNS, "What is overdue by # is", "engine.schedulers.scheduler:OVERDUE"),
    Figure(HOW_IT_RUNS, "waits for what runs (# by default)", "engine.node:DRAIN"),
    Figure(HOW_IT_RUNS, "after # the execution is given back", "engine.workers.attempts:STOP_GRACE"),
    Figure(STORES, "jobs are divided into # shards", "core.jobs.job:SHARDS"),
    Figure(STORES, "A pool of at most # connections", "store.databases.postgres:CONNECTIONS_MAX"),
    Figure(STORES, "A statement may take #", "store.databases.postgres_connect:STATEMENT_TIMEOUT"),
    Figure(STORES, "a connection attempt #", "store.databases.postgres_connect:CONNECT_TIMEOUT"),
    Figure(STORES, "up after #, so that", "store.databases.postgres_partitions:LOCK_TIMEOUT"),
    Figure(STORES, "at most one hint per topic in #", "store.databases.postgres_hints:QUIET"),
    Figure(WORKFLOWS, "| tasks | # |", "core.workflows.graph:TASKS_MAX"),
    Figure(WORKFLOWS, "| dependencies, all tasks together | # |", "core.workflows.graph:EDGES_MAX"),
    Figure(WORKFLOWS, "| a definition, as JSON | #", "core.workflows.dag:DEFINITION_BYTES_MAX"),
    Figure(
        WORKFLOWS, "| the result of a task, the data of an event | #", "core.values.limits:RESULT_BYTES_MAX"
    ),
    Figure(WORKFLOWS, "| payloads of a fan-out | #", "core.runs.releases:FAN_OUT_BYTES_MAX"),
    Figure(WORKFLOWS, "end of a task, is given | #", "core.runs.releases:RELEASE_BYTES_MAX"),
    Figure(WORKFLOWS, "results that one task reads | #", "core.workflows.workflow:READS_MAX"),
    Figure(WORKFLOWS, "conditions of a task | #", "core.workflows.workflow:CONDITIONS_MAX"),
    Figure(WORKFLOWS, "workflows inside of each other | #", "core.workflows.workflow:NESTING_MAX"),
    Figure(WORKFLOWS, "At most # runs.", "core.runs.backfills:BACKFILL_RUNS_MAX"),
    Figure(WORKFLOWS, "`concurrency` of them at once (1 to #)", "core.runs.backfills:CONCURRENCY_MAX"),
    Figure(RETRIES, "| `max_attempts` | 3 | 1 to #", "core.jobs.retry:ATTEMPTS_MAX"),
    Figure(RETRIES, "| `backoff_base` | 60 s | 0 to #", "core.jobs.retry:BACKOFF_MAX"),
    Figure(RETRIES, "| `crash_limit` | `crash_limit` | #", "core.jobs.retry:CRASH_LIMIT"),
    Figure(API, "`limit` (#, at most", "core.values.limits:PAGE_LIMIT_DEFAULT"),
    Figure(API, "`limit` (50, at most #)", "core.values.limits:PAGE_LIMIT_MAX"),
    Figure(API, "# a result or checkpoint", "core.values.limits:RESULT_BYTES_MAX"),
    Figure(HANDLERS, "redirects` | boolean | false | at most #", "handlers.http.handler:REDIRECTS_MAX"),
    Figure(HANDLERS, "or # lines the rest is read", "core.values.limits:LOG_LINES_MAX"),
    Figure(HANDLERS, "They are counted every #.", "handlers.script.launch:LOOK_SECONDS"),
    Figure(ON_POSTGRES, "the time of a lease (#)", "core.executions.lease:LEASE"),
    Figure(SETTINGS, "# are told one by one in 5 seconds", "cli.output.narration:LINES_MAX"),
    Figure(SETTINGS, "told one by one in #, and", "cli.output.narration:WINDOW"),
    Figure(SETTINGS, "A text longer than # is cut", "core.values.limits:LOG_LINE_BYTES_MAX"),
    Figure(REASONS, "one stops claiming after #", "core.executions.suspects:PATIENCE"),
    Figure(REASONS, "A scheduler lets it in within #,", "engine.schedulers.sweeper:INTERVAL"),
    Figure(REASONS, "Silent workers count as dead after #.", "core.operations.workers:SILENT"),
    Figure(REASONS, "Every # it is offered again", "engine.workers.attempts:NOT_HERE"),
    Figure(RETRIES, "for a suspect that has waited #, until", "core.executions.suspects:PATIENCE"),
    Figure(RETRIES, "after # it gives up", "core.executions.suspects:RESERVED_MAX"),
    Figure(STATUSES, "and heard of within the last #", "core.operations.workers:SILENT"),
    Figure(METRICS, "turned away in the last #,", "store.operations.unrunnable:TURNED_AWAY_WITHIN"),
    Figure(METRICS, "Counted up to # of each queue", "store.operations.unrunnable:COUNT_MAX"),
    Figure(MIGRATE, "is changed looks at it once #,", "engine.schema_watch:EVERY"),
    Figure(MIGRATE, "says so in the log every #,", "engine.schema_watch:AGAIN"),
    Figure(SCHEDULES, "The period, from 1 second to #.", "core.time.schedule:INTERVAL_MAX"),
    Figure(SCHEDULES, "count as in time, from 0 to #.", "core.time.schedule:MISFIRE_GRACE_MAX"),
    Figure(SCHEDULES, "the newest ones; from 1 to #.", "core.time.schedule:CATCHUP_LIMIT_MAX"),
    Figure(API, "no due time is older than #.", "health.checks:LAG_MAX"),
    Figure(API, "its last step was at most # ago", "health.checks:STEP_AGE_MAX"),
    Figure(API, "Make up to # jobs, all or none", "api.resources.jobs:BATCH_MAX"),
    Figure(API, "Ask for up to # runs, all or none", "api.resources.job_runs:BATCH_MAX"),
    Figure(API, "Answers above # are compressed", "api.serving.compression:FROM_BYTES"),
]


@pytest.mark.parametrize("figure", FIGURES, ids=str)
def test_docs_figures_are_those_of_the_code(figure: Figure) -> None:
    assert said_in(ROOT, figure) == number_of(figure.constant)


def test_docs_figures_are_read_as_people_write_them(plant: Plant) -> None:
    root = plant(
        "p.md",
        "waits two\nseconds, every 100 ms | up to 20,000 runs, 16 MiB, every minute; (25 seconds by default)",
    )
    said = {
        "waits #,": 2,
        "every #": 0.1,
        "up to # runs": 20_000,
        "runs, #,": 16 << 20,
        "MiB, every #;": 60,
        "(# by": 25,
    }
    assert {one: said_in(root, Figure("p.md", one, "")) for one in said} == said


def said_in(root: Path, figure: Figure) -> float:
    before, _, after = figure.said.partition("#")
    pattern = re.escape(before) + NUMBER + re.escape(after)
    found = re.search(pattern.replace(r"\ ", r"\s+"), " ".join(read(root, figure.page).split()))
    assert found, f"{figure.page}: it does not say {figure.said!r} any more. Mend the page, or the row here."
    in_words = WORDS.get(found["number"])
    number = float(found["number"].replace(",", "")) if in_words is None else in_words
    return round(number * UNITS.get(found["unit"], 1), 6)


def number_of(constant: str) -> float:
    value = resolve_name(f"gnomon.{constant}")
    return value.total_seconds() if isinstance(value, timedelta) else float(value)
