"""Runs a function in a child process, and ends that process with everything it started in its group."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from datetime import timedelta

from gnomon.core.values.document import JSON
from gnomon.errors import LeaseLost
from gnomon.handlers.base import Context, JobFailed, Kept, NotHere, Snooze, Stopped
from gnomon.handlers.lines import Budget, keep_lines
from gnomon.handlers.python import wire

PIPES_END = timedelta(seconds=1)  # After its group was killed, only an escaped process holds them open.


async def run_in_process(
    name: str, *, home: str | None, values: dict[str, JSON], context: Context, grace: timedelta
) -> JSON:
    """The result of the function. When cancelled: ask, and kill after the grace time."""
    assert home is not None, "Functions.add lets nobody in without a home."
    start = wire.StartBody(
        home=home,
        name=name,
        values=json.dumps(values),
        path=sys.path,
        log_level=context.log.getEffectiveLevel(),
        context=wire.Snapshot.of(context),
    )
    child = await Child.started()
    try:
        return _result(await child.converse(start, context))
    except asyncio.CancelledError:
        await child.ask_to_stop(grace)
        raise
    finally:
        await child.kill()


class Child:
    """A running child process, seen from the worker."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._saving: set[asyncio.Task[None]] = set()
        budget = Budget()
        self._output = [
            asyncio.create_task(keep_lines(pipe, level=level, log=_log, budget=budget))
            for pipe, level in ((process.stdout, logging.INFO), (process.stderr, logging.WARNING))
            if pipe is not None
        ]

    @classmethod
    async def started(cls) -> Child:
        ours, theirs = socket.socketpair()
        with theirs:
            # Before the process, so that nothing can go wrong between its start and its owner.
            reader, writer = await asyncio.open_connection(sock=ours, limit=wire.MESSAGE_BYTES_MAX)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gnomon.handlers.python.child", str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return cls(process, reader, writer)

    async def converse(self, start: wire.StartBody, context: Context) -> wire.Outcome:
        self._writer.write(wire.line(start))
        while data := await self._hear():
            match wire.from_child.decode(data):
                case wire.Log(level, text):
                    _log.log(level, "%s", text)
                case wire.CheckpointSaved() as checkpoint:
                    self._save(checkpoint, context)
                case ended:
                    return ended
        code = await self._process.wait()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return wire.BodyFailed(f"The process of the function ended with {how}.", "crashed")

    async def ask_to_stop(self, grace: timedelta) -> None:
        """Returns when the function has come to its end, or the time is over."""
        self._writer.write(wire.line(wire.StopBody()))
        with suppress(TimeoutError):
            async with asyncio.timeout(grace.total_seconds()):
                while data := await self._hear():
                    if not isinstance(wire.from_child.decode(data), wire.Log | wire.CheckpointSaved):
                        return

    async def kill(self) -> None:
        """The whole group. The child waits for this when it is done, so the group is still its own."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._writer.close()
        await asyncio.wait(self._output, timeout=PIPES_END.total_seconds())
        for task in (*self._output, *self._saving):
            task.cancel()
        await self._process.wait()

    async def _hear(self) -> bytes:
        try:
            return await self._reader.readline()
        except ConnectionResetError:
            return b""

    def _save(self, asked: wire.CheckpointSaved, context: Context) -> None:
        kept = context.checkpoint(json.loads(asked.state), asked.progress)
        task = asyncio.create_task(self._answer(asked.number, kept))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)

    async def _answer(self, number: int, kept: Kept) -> None:
        try:
            await kept
        except LeaseLost as error:
            answer = wire.Saved(number, str(error), is_lease_lost=True)
        except Exception as error:  # Whatever it is, the function waits for an answer.
            answer = wire.Saved(number, f"{type(error).__name__}: {error}")
        else:
            answer = wire.Saved(number)
        self._writer.write(wire.line(answer))


def _result(outcome: wire.Outcome) -> JSON:
    match outcome:
        case wire.Returned(text):
            result: JSON = json.loads(text)
            return result
        case wire.BodyFailed(message, kind, permanent, retry_after):
            raise JobFailed(message, kind=kind, permanent=permanent, retry_after=retry_after)
        case wire.BodySnoozed(delay):
            raise Snooze(delay)
        case wire.Absent(message):
            raise NotHere(message)
        case wire.BodyEnded():
            raise Stopped


_log = logging.getLogger("gnomon.job")
