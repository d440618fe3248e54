"""How the tasks of a run that is stopped come to their end."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from gnomon.core.runs.events import Ended, Event
from gnomon.core.runs.state import TaskStatus
from gnomon.store.databases.database import Session, rounds
from gnomon.store.queue.gates import note_unbegun


class Stopped(NamedTuple):
    """`ended`: the ends of what had been released. `asked`: whether a worker must hear that it shall stop."""

    ended: list[Event]
    asked: bool


async def stop_tasks(session: Session, run_id: UUID, *, now: datetime) -> Stopped:
    """End what waits, and ask what runs to stop."""
    await session.fetch("run_sweep", run_id=run_id)
    await session.fetch("run_holds_clear", run_id=run_id)
    ended: list[Event] = []
    asked = False
    for _ in rounds(f"Tasks of run {run_id}"):
        asked |= bool(await session.fetch("run_stop", run_id=run_id))
        rows = await session.fetch("run_waiting_end", run_id=run_id, now=now)
        await note_unbegun(session, rows, now=now)
        ended += [Ended(row["task"], row["round"], TaskStatus.CANCELLED, item=row["item"]) for row in rows]
        if not await session.fetch("run_remains", run_id=run_id):
            break
    return Stopped(ended, asked)
