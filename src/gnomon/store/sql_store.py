"""All nouns over one database."""

from __future__ import annotations

from datetime import datetime, timedelta

from gnomon.store.access.keys import SqlKeys
from gnomon.store.databases.database import Database
from gnomon.store.executions.executions import SqlExecutions
from gnomon.store.executions.records import SqlCheckpoints, SqlDeadLetters, SqlLogs
from gnomon.store.jobs.calendars import SqlCalendars
from gnomon.store.jobs.jobs import SqlJobs
from gnomon.store.jobs.revisions import Revisions
from gnomon.store.jobs.schedules import SqlSchedules
from gnomon.store.operations.events import SqlEvents
from gnomon.store.operations.reports import SqlReports
from gnomon.store.operations.shards import SqlShards
from gnomon.store.operations.upkeep import SqlUpkeep
from gnomon.store.operations.workers import SqlTenants, SqlWorkers
from gnomon.store.queue.claimer import RESCAN, Claimer
from gnomon.store.queue.gates import Gates
from gnomon.store.queue.lanes import Lanes
from gnomon.store.runs.runs import SqlRuns
from gnomon.store.workflows.backfills import SqlBackfills
from gnomon.store.workflows.dags import SqlDags
from gnomon.store.workflows.plans import Plans
from gnomon.store.writes.writer import Writer


class SqlStore:
    """`rescan` is how long a claimer may go on from where it was before it looks from the front again."""

    def __init__(self, database: Database, *, rescan: timedelta = RESCAN) -> None:
        lanes, gates, plans = Lanes(database), Gates(database), Plans()
        self.database = database
        self.tenants = SqlTenants(database)
        self.jobs = SqlJobs(database, lanes, gates)
        backfills = SqlBackfills(database)
        self.dags = SqlDags(database, lanes, self.jobs, backfills)
        claimer = Claimer(database, lanes, rescan=rescan)
        writer = Writer(database, claimer)
        self.runs = SqlRuns(database, plans, gates, backfills, writer)
        self.schedules = SqlSchedules(database)
        self.calendars = SqlCalendars(database)
        self.executions = SqlExecutions(
            database, claimer, Revisions(database), gates, lanes, self.runs, writer
        )
        self.checkpoints = SqlCheckpoints(database)
        self.logs = SqlLogs(database)
        self.dead_letters = SqlDeadLetters(database, self.runs.redriving)
        self.workers = SqlWorkers(database)
        self.keys = SqlKeys(database)
        self.shards = SqlShards(database)
        self.upkeep = SqlUpkeep(database)
        self.events = SqlEvents(database)
        self.reports = SqlReports(database, lanes)

    async def clock(self) -> datetime:
        [row] = await self.database.read("clock")
        instant: datetime = row["at"]
        return instant

    async def close(self) -> None:
        await self.database.close()
