"""Log lines and checkpoints of running attempts, on their way into the store in batches."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from datetime import timedelta

from gnomon.core.executions.lease import Claim, Leased
from gnomon.core.executions.records import Checkpoint, LogLevel, LogLine
from gnomon.core.values.document import Document, keepable_text
from gnomon.core.values.limits import LOG_BYTES_MAX, LOG_LINES_MAX, cut_line
from gnomon.engine.clock import Clock
from gnomon.engine.failpoints import At, failpoint
from gnomon.engine.service import NOW, Wakeup
from gnomon.engine.telemetry import Telemetry, What
from gnomon.engine.workers.attempts import RUNNING, Attempt
from gnomon.engine.workers.needs import Lines
from gnomon.errors import LeaseLost, StoreError
from gnomon.store.protocols.executions import CheckpointStore

logger = logging.getLogger(__name__)

BATCH = 1000
# Lines gather this long. A checkpoint does not wait: somebody may be awaiting it.
GATHER = timedelta(milliseconds=100)
IDLE = timedelta(seconds=10)
# Beyond this the store is slower than the jobs talk. Jobs go on, and lines are left out.
LINES_IN_MEMORY_MAX = 20_000
LOG_FULL = "[cut: the log of this attempt is full; what follows is not kept]"
LOG_BEHIND = "[cut: lines left out here, the store was too slow for them]"


class Notebook:
    """`line` and `checkpoint` may be called from any thread; the rest belongs to the loop's."""

    def __init__(
        self, *, logs: Lines, checkpoints: CheckpointStore, clock: Clock, telemetry: Telemetry
    ) -> None:
        self.wakeup = Wakeup()
        self._logs = logs
        self._checkpoints = checkpoints
        self._clock = clock
        self._telemetry = telemetry
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._lock = threading.Lock()
        self._lines: deque[LogLine] = deque()
        self._states: dict[Claim, tuple[Leased, Checkpoint, list[Future[None]]]] = {}
        self._turn = asyncio.Lock()
        self._alarm_is_set = False

    def line(self, attempt: Attempt, level: LogLevel, message: str) -> None:
        with self._lock:
            kept = self._kept(attempt, message)
            if kept is None:
                return
            attempt.log_lines += 1
            attempt.log_bytes += len(kept)
            line = LogLine(attempt.leased.claim, attempt.log_lines, self._clock.now(), level, kept)
            self._lines.append(line)
            if self._alarm_is_set:
                return
            self._alarm_is_set = True
        self._in_loop(self._set_alarm)

    def _kept(self, attempt: Attempt, message: str) -> str | None:
        """The line as it is kept: whole, cut, a marker in its place, or not at all."""
        if attempt.log_is_full:
            return None
        if attempt.log_lines >= LOG_LINES_MAX - 1 or attempt.log_bytes >= LOG_BYTES_MAX:
            attempt.log_is_full = True
            return LOG_FULL
        if len(self._lines) >= LINES_IN_MEMORY_MAX:
            if attempt.log_is_behind:
                return None
            attempt.log_is_behind = True
            return LOG_BEHIND
        attempt.log_is_behind = False
        return cut_line(keepable_text(message, length_max=LOG_BYTES_MAX))

    def checkpoint(self, leased: Leased, state: Document, progress: float | None) -> Future[None]:
        kept: Future[None] = Future()
        kept.set_running_or_notify_cancel()  # From here on, who stops waiting for it does not cancel it.
        checkpoint = Checkpoint(leased.claim, state, progress, self._clock.now())
        with self._lock:
            # Only the latest counts. Who waits for an earlier one is served by it, too.
            waiting = self._states.pop(leased.claim, (leased, checkpoint, []))[2]
            self._states[leased.claim] = (leased, checkpoint, [*waiting, kept])
        self._in_loop(self.wakeup.set)
        return kept

    def _in_loop(self, call: Callable[[], None]) -> None:
        if threading.get_ident() == self._loop_thread:
            call()
        else:
            self._loop.call_soon_threadsafe(call)

    def _set_alarm(self) -> None:
        self._loop.call_later(GATHER.total_seconds(), self.wakeup.set)

    async def step(self) -> timedelta:
        self._alarm_is_set = False
        await self.flush()
        return NOW if self._lines or self._states else IDLE

    async def flush(self) -> None:
        """Write what was there when this was called."""
        if not self._lines and not self._states and not self._turn.locked():
            return
        async with self._turn:  # What somebody else has in hand is not written yet, either.
            await self._flush_lines(len(self._lines))
            await self._flush_states()

    async def _flush_lines(self, count: int) -> None:
        while count > 0:
            batch = [self._lines[place] for place in range(min(BATCH, count))]
            # Those of a lost claim are dropped by the store. That is what shall happen to them.
            await self._append(batch)
            for _ in batch:
                self._lines.popleft()
            count -= len(batch)

    async def _append(self, lines: Sequence[LogLine]) -> None:
        """Leaves out what the store cannot keep: nobody may wait for that for ever."""
        try:
            await self._logs.append(lines)
        except StoreError:
            raise
        except Exception:
            if len(lines) == 1:
                logger.exception("a log line cannot be kept")
                return
            for part in (lines[: len(lines) // 2], lines[len(lines) // 2 :]):
                await self._append(part)

    async def _flush_states(self) -> None:
        with self._lock:
            states, self._states = self._states, {}
        if not states:
            return
        try:
            trouble = await self._save([checkpoint for _, checkpoint, _ in states.values()])
        except BaseException:
            with self._lock:
                self._put_back(states)
            raise
        failpoint(At.CHECKPOINT_AFTER)
        for claim, (leased, checkpoint, waiting) in states.items():
            for future in waiting:
                if claim in trouble:
                    future.set_exception(trouble[claim])
                else:
                    future.set_result(None)
            if claim not in trouble and checkpoint.progress is not None:
                note = f"{checkpoint.progress:.0%}"
                self._telemetry.tell_of_job(
                    What.PROGRESSED,
                    leased.tenant_id,
                    leased.job_id,
                    at=checkpoint.saved_at,
                    execution_id=claim.execution_id,
                    note=note,
                )

    async def _save(self, checkpoints: Sequence[Checkpoint]) -> Mapping[Claim, Exception]:
        """Why some were not kept: the lease is lost, or the store cannot keep what is in it."""
        try:
            held = set(await self._checkpoints.save(checkpoints))
        except StoreError:
            raise
        except Exception as error:
            if len(checkpoints) == 1:
                logger.exception("a checkpoint cannot be kept")
                return {checkpoints[0].claim: error}
            apart = [await self._save([one]) for one in checkpoints]
            return {claim: trouble for one in apart for claim, trouble in one.items()}
        lost = {one.claim for one in checkpoints} - held
        return {claim: LeaseLost(claim.execution_id, claim=claim.number) for claim in lost}

    def _put_back(self, states: dict[Claim, tuple[Leased, Checkpoint, list[Future[None]]]]) -> None:
        for claim, (leased, checkpoint, waiting) in states.items():
            newer = self._states.get(claim)
            if newer is None:
                self._states[claim] = (leased, checkpoint, waiting)
            else:
                newer[2][:0] = waiting


class Capture(logging.Handler):
    """Takes what user code writes to any logger while it runs an attempt."""

    def __init__(self, notebook: Notebook) -> None:
        super().__init__(logging.DEBUG)
        self._notebook = notebook

    def emit(self, record: logging.LogRecord) -> None:
        attempt = RUNNING.get()
        if attempt is None or (record.name.startswith("gnomon.") and record.name != "gnomon.job"):
            return
        try:
            text = self.format(record)
        except Exception as error:  # A message and arguments that do not fit: logging would print to stderr.
            text = f"{record.msg!r} could not be formatted: {error}"
        for line in text.splitlines() or [""]:
            self._notebook.line(attempt, _level(record.levelno), line)


def _level(number: int) -> LogLevel:
    if number >= logging.ERROR:
        return LogLevel.ERROR
    if number >= logging.WARNING:
        return LogLevel.WARNING
    return LogLevel.INFO if number >= logging.INFO else LogLevel.DEBUG
