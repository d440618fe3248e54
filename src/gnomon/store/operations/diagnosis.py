"""What must hold in every store, and how to see whether it does. Only reads; walks over whole tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from gnomon.store.databases.database import Database

FOUND_MAX = 10
# What somebody sees to within seconds. After this long, nobody does.
PATIENCE = timedelta(minutes=1)

_BUG = "This must not happen. Stop writing to the database, keep a copy of it, and report it."


@dataclass(frozen=True, slots=True)
class Invariant:
    """`statement` finds what breaks it. With `is_of_time`, only what has been so for a while."""

    name: str
    statement: str
    meaning: str
    advice: str
    is_of_time: bool = False


INVARIANTS = (
    Invariant("one-place", "doctor_one_place", "Each run waits, runs or has ended, one of the three.", _BUG),
    Invariant("known-runs", "doctor_known_runs", "What waits and what runs is a run that exists.", _BUG),
    Invariant(
        "known-lanes", "doctor_known_lanes", "What waits does so where a worker can find it.",
        "No worker can claim these. Cancel them and trigger their jobs again; then report it.",
    ),
    Invariant("revisions", "doctor_revisions", "Each job has the revision that it names.", _BUG),
    Invariant(
        "dead-letters", "doctor_dead_letters", "Each dead letter is of a run that ended without success.",
        "Look at each with gnomon dlq show, and forget it with gnomon dlq purge; then report it.",
    ),
    Invariant(
        "unique-keys", "doctor_unique_keys", "Each unique key is of a run that lives.",
        "No run with these keys can be made. Trigger without the key meanwhile, and report it.",
    ),
    Invariant(
        "run-numbers", "doctor_run_numbers", "The numbers of a run of a workflow are those of its tasks.",
        _BUG,
    ),
    Invariant(
        "run-ends", "doctor_run_ends", "Of a run of a workflow that has ended, nothing waits or runs.",
        _BUG,
    ),
    Invariant(
        "released-tasks", "doctor_released_tasks", "Each task of a run that was released has an execution.",
        _BUG,
    ),
    Invariant(
        "due-times", "doctor_due_times", "What is due has been fired within a minute.",
        "Is a scheduler running? Start one: gnomon scheduler. If one is, look for the job in its log.",
        is_of_time=True,
    ),
    Invariant(
        "leases", "doctor_leases", "What dead workers held has been taken back within a minute.",
        "Is a scheduler running? Start one: gnomon scheduler.",
        is_of_time=True,
    ),
    Invariant(
        "workers", "doctor_workers", "Where runs wait that could run, there is a worker.",
        "Start one: gnomon worker. gnomon run explain tells what each run waits for.",
        is_of_time=True,
    ),
)  # fmt: skip


class SqlDiagnosis:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def look(self, invariant: Invariant, *, now: datetime) -> Sequence[UUID]:
        """The ids of runs or jobs that break it, the first ten."""
        values = {"before": now - PATIENCE} if invariant.is_of_time else {}
        rows = await self._database.read(invariant.statement, limit=FOUND_MAX, **values)
        return [next(iter(dict(row).values())) for row in rows]
