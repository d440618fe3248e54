"""The reference pages say what the core does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from gnomon.core.executions.execution import ExecutionStatus
from gnomon.core.executions.lifecycle import EXECUTION_TRANSITIONS, JOB_TRANSITIONS, JobAction
from gnomon.core.jobs.job import JobStatus
from gnomon.core.operations.workers import WorkerStatus
from gnomon.core.runs.backfills import BackfillStatus, Existing
from gnomon.core.runs.state import TASK_TRANSITIONS, RunStatus, TaskStatus
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import CronTiming, Delayed, Interval, Misfire, Once, Overlap, Schedule, Timing
from gnomon.core.time.schedule_document import to_document
from tests.unit.core.builders import HOUR, MINUTE, NOON

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading, each as the words in code style, without its head."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    section = re.split(rf"^#+ {re.escape(heading)}\n", text, flags=re.MULTILINE)[1]
    section = re.split(r"^#", section, maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [line.strip("|").split("|") for line in lines]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def first_words(page: str, heading: str) -> list[str]:
    return [words(row[0])[0] for row in rows(page, heading)]


def test_the_page_shows_the_job_transitions_of_the_table() -> None:
    shown = {
        (JobStatus(words(status)[0]), JobAction(words(action)[0])): JobStatus(words(target)[0])
        for status, action, target in rows("statuses.md", "Job transitions")
    }

    assert shown == JOB_TRANSITIONS


def test_the_page_shows_the_execution_transitions_of_the_table() -> None:
    shown = {
        ExecutionStatus(words(status)[0]): {ExecutionStatus(word) for word in words(targets)}
        for status, targets in rows("statuses.md", "Execution transitions")
    }

    assert shown == {status: ways for status, ways in EXECUTION_TRANSITIONS.items() if ways}


def test_the_page_shows_the_task_transitions_of_the_table() -> None:
    shown = {
        TaskStatus(words(status)[0]): {TaskStatus(word) for word in words(targets)}
        for status, targets in rows("statuses.md", "Task transitions")
    }

    assert shown == TASK_TRANSITIONS


def test_the_page_has_a_row_for_every_status() -> None:
    assert first_words("statuses.md", "Run status") == list(RunStatus)
    assert first_words("statuses.md", "Task status") == list(TaskStatus)
    assert first_words("statuses.md", "Job status") == list(JobStatus)
    assert first_words("statuses.md", "Execution status") == list(ExecutionStatus)
    assert first_words("statuses.md", "Backfill status") == list(BackfillStatus)
    assert sorted(first_words("statuses.md", "Worker status")) == sorted(WorkerStatus)
    assert first_words("workflows.md", "Backfills") == list(Existing)


@pytest.mark.parametrize(
    ("heading", "choices"),
    [
        ("gap", Gap),
        ("misfire_policy", Misfire),
        ("overlap_policy", Overlap),
        ("Why a time was skipped", SkipReason),
    ],
)
def test_the_page_has_a_row_for_every_choice(
    heading: str, choices: type[Gap | Misfire | Overlap | SkipReason]
) -> None:
    assert sorted(first_words("schedules.md", heading)) == sorted(choices)


def test_the_page_has_a_heading_for_every_field_of_a_schedule() -> None:
    everything = Schedule(
        start_at=NOON, end_at=NOON + HOUR, max_runs=1, calendar="holidays", catchup_window=HOUR
    )
    timings: list[Timing] = [
        CronTiming("@daily", gap=Gap.SKIP, fold=Fold.BOTH),
        Interval(MINUTE, NOON),
        Once(NOON),
        Delayed(MINUTE, NOON),
    ]
    names = set(to_document(everything)) | {
        name for timing in timings for name in to_document(Schedule(timing))
    }
    text = (REFERENCE / "schedules.md").read_text(encoding="utf-8")

    # Set everything, so that a new field cannot hide behind an unset one.
    assert all(getattr(everything, field.name) is not None for field in fields(Schedule))
    assert names - set(re.findall(r"^### (\w+)$", text, re.MULTILINE)) == {"type"}
