"""A calm view of what happens, for somebody who watches: a table of jobs, and the latest events below it."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gnomon.app.processes.engine import Engine
from gnomon.cli.output.terminal import Screen
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.records import JobFilter
from gnomon.core.jobs.job import Job, JobId
from gnomon.core.time.schedule import CronTiming, Interval
from gnomon.engine.telemetry import Happening, What

REFRESH_SECONDS = 0.25
READ_JOBS_EVERY = timedelta(seconds=2)
JOBS_SHOWN = 20
EVENTS_SHOWN = 10
NARROW = 100  # Columns. With fewer, the schedules are left out, so that the figures can be read.

_STYLES = {
    What.COMPLETED: "green",
    What.FAILED: "red",
    What.RETRIED: "yellow",
    What.REAPED: "yellow",
    What.LOST: "red",
    What.REFUSED: "red",
}
_ENDS_ATTEMPT = frozenset({What.COMPLETED, What.FAILED, What.RETRIED, What.CANCELLED, What.RELEASED})
# Said by the table already, several times a second.
_UNSAID = frozenset({What.PROGRESSED})


@asynccontextmanager
async def live_view(engine: Engine, console: Screen, next_step: Sequence[str]) -> AsyncIterator[None]:
    view = LiveView(engine, is_narrow=console.width < NARROW, next_step=next_step)
    engine.telemetry.listeners.append(view.see)
    with Live(view.render(), console=console, auto_refresh=False, transient=False) as live:
        task = asyncio.create_task(view.keep_showing(live))
        try:
            yield
        finally:
            engine.telemetry.listeners.remove(view.see)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            live.update(view.render(), refresh=True)


class LiveView:
    def __init__(self, engine: Engine, *, is_narrow: bool, next_step: Sequence[str]) -> None:
        self._engine = engine
        self._is_narrow = is_narrow
        self._next_step = "\n".join(next_step)  # The command stands alone, to be copied.
        self._jobs: dict[JobId, Job] = {}
        self._names: dict[JobId, str] = {}  # Also of those that were deleted: the latest events tell of them.
        self._read_at: datetime | None = None
        self._counts: dict[JobId, Counter[What]] = {}
        self._running: Counter[JobId] = Counter()
        self._progress: dict[JobId, str] = {}
        self._events: deque[Happening] = deque(maxlen=EVENTS_SHOWN)

    def see(self, happening: Happening) -> None:
        what, job_id = happening.what, happening.job_id
        self._counts.setdefault(job_id, Counter())[what] += 1
        if what is What.STARTED:
            self._running[job_id] += 1
        elif what in _ENDS_ATTEMPT:
            self._running[job_id] = max(0, self._running[job_id] - 1)
            self._progress.pop(job_id, None)
        elif what is What.PROGRESSED:
            self._progress[job_id] = happening.note
        if what not in _UNSAID:
            self._events.append(happening)

    async def keep_showing(self, live: Live) -> None:
        while True:
            await self._read_jobs()
            live.update(self.render(), refresh=True)
            await asyncio.sleep(REFRESH_SECONDS)

    async def _read_jobs(self) -> None:
        now = self._engine.clock.now()
        if self._read_at is not None and now - self._read_at < READ_JOBS_EVERY:
            return
        self._read_at = now
        page = await self._engine.store.jobs.page(DEFAULT_TENANT, JobFilter(), limit=JOBS_SHOWN)
        self._jobs = {job.id: job for job in page.items}
        shown = {happening.job_id for happening in self._events}
        kept = {job_id: name for job_id, name in self._names.items() if job_id in shown}
        self._names = kept | {job.id: job.name for job in page.items}

    def render(self) -> Group:
        # Events are cut where the terminal ends; the next step is not.
        latest = [self._latest()] if self._events else []
        return Group(self._table(), *latest, self._what_to_press())

    def _table(self) -> Table:
        table = Table(title="Gnomon", title_justify="left", expand=True)
        table.add_column("job", no_wrap=True)
        if not self._is_narrow:
            table.add_column("schedule", no_wrap=True)
        for name in ("next", "fired", "running", "completed", "retried", "dead"):
            table.add_column(name, justify="right", no_wrap=True)
        for job in sorted(self._jobs.values(), key=lambda job: job.name):
            counts = self._counts.get(job.id, Counter())
            table.add_row(
                Text(job.name),
                *([] if self._is_narrow else [Text(_schedule(job))]),
                self._next(job),
                str(counts[What.FIRED]),
                self._now(job.id),
                Text(str(counts[What.COMPLETED]), "green" if counts[What.COMPLETED] else ""),
                Text(str(counts[What.RETRIED]), "yellow" if counts[What.RETRIED] else ""),
                Text(str(counts[What.FAILED]), "red" if counts[What.FAILED] else ""),
            )
        return table

    def _next(self, job: Job) -> str:
        if job.next_run_time is None:
            return "-"
        seconds = (job.next_run_time - self._engine.clock.now()).total_seconds()
        return (
            "now"
            if seconds <= 0
            else f"in {seconds:.0f} s"
            if seconds < 120
            else f"{job.next_run_time:%H:%M}"
        )

    def _now(self, job_id: JobId) -> str:
        running = self._running[job_id]
        return f"{running} {self._progress.get(job_id, '')}".strip() if running else ""

    def _latest(self) -> Text:
        lines = [self._line(happening) for happening in self._events]
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

    def _what_to_press(self) -> Text:
        if not self._engine.node.is_draining:
            return Text(f"{self._next_step[0].upper()}{self._next_step[1:]}\nCtrl-C drains and ends.", "dim")
        running = self._running.total()
        if not running:
            return Text("Drained: nothing runs any more.", "dim")
        return Text(f"Draining: {running} still running. Ctrl-C again gives back what runs.", "yellow")

    def _line(self, happening: Happening) -> Text:
        attempt = f" (attempt {happening.attempt})" if happening.attempt > 1 else ""
        note = f": {happening.note}" if happening.note else ""
        line = Text(f"{happening.at:%H:%M:%S} ", "dim")
        line.append(f"{happening.what:<10}", _STYLES.get(happening.what, ""))
        line.append(f" {self._names.get(happening.job_id, happening.job_id)}{attempt}{note}")
        return line


def _schedule(job: Job) -> str:
    match job.definition.schedule.timing:
        case CronTiming(expression, timezone):
            return expression if timezone == "UTC" else f"{expression} {timezone}"
        case Interval(every):
            return f"every {every.total_seconds():g} s"
        case other:
            return type(other).__name__.lower()
