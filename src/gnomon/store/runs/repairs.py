"""What a repair of a run does besides its rows: see `core/runs/repairs.py`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from gnomon.core.runs.events import Changes
from gnomon.store.databases.database import Session
from gnomon.store.runs.rows import wanted_tasks


def is_repaired(change: Changes) -> bool:
    """A run that had ended goes on. If there is nothing left to do, it ends anew, perhaps in another way."""
    return change.before.status.is_final and bool(change.tasks)


async def settle_dead_letters(session: Session, changes: Mapping[UUID, Changes], *, now: datetime) -> None:
    """Of what is done anew, so that nothing runs it once more."""
    repaired = [(run_id, task) for run_id, change in changes.items() for task in sorted(change.repaired)]
    if repaired:
        await session.fetch("dead_letters_settle", wanted_tasks(repaired), now=now)
