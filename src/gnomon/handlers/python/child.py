"""Runs one function in a process of its own: python -m gnomon.handlers.python.child DESCRIPTOR.

The descriptor is a socket to the worker. The process belongs to that worker: if the worker goes, so does it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import threading
from concurrent.futures import Future
from typing import BinaryIO, assert_never

from gnomon.core.executions.lease import Leased
from gnomon.core.values.document import Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.errors import InvalidInput, LeaseLost
from gnomon.handlers.base import Context, JobFailed, NotHere, Snooze, Stopped
from gnomon.handlers.python import wire
from gnomon.handlers.python.arguments import as_json
from gnomon.handlers.python.functions import Function, load
from gnomon.logs import raised


class WorkerPipe:
    """The other end of the socket, as the Attendant of the one attempt that runs here."""

    def __init__(self, connection: socket.socket, incoming: BinaryIO) -> None:
        self._connection = connection
        self._incoming = incoming
        self._lock = threading.Lock()
        self._saving: dict[int, tuple[Future[None], Leased]] = {}
        self._checkpoints = 0
        self._is_stopping = False

    def say(self, message: wire.FromChild) -> None:
        data = wire.line(message)
        with self._lock:
            self._connection.sendall(data)

    def hear(self) -> wire.ToChild:
        if not (data := self._incoming.readline()):
            os.killpg(0, signal.SIGKILL)  # The worker is gone: nobody wants what is made here.
        return wire.to_child.decode(data)

    def listen(self) -> None:
        while True:
            match self.hear():
                case wire.StopBody():
                    self._is_stopping = True
                case wire.Saved() as saved:
                    self._settle(saved)
                case wire.StartBody():
                    raise AssertionError("A child process runs one function once.")

    def checkpoint(self, leased: Leased, state: Document, progress: float | None) -> Future[None]:
        future: Future[None] = Future()
        future.set_running_or_notify_cancel()  # From here on, who stops waiting for it does not cancel it.
        with self._lock:
            self._checkpoints += 1
            number = self._checkpoints
            self._saving[number] = future, leased
        self.say(wire.CheckpointSaved(number, state.text, progress))
        return future

    def is_stopping(self, leased: Leased) -> bool:
        return self._is_stopping

    def _settle(self, saved: wire.Saved) -> None:
        with self._lock:
            future, leased = self._saving.pop(saved.number)
        if saved.is_lease_lost:
            future.set_exception(LeaseLost(leased.claim.execution_id, claim=leased.claim.number))
        elif saved.error is not None:
            future.set_exception(RuntimeError(saved.error))
        else:
            future.set_result(None)


class LogToWorker(logging.Handler):
    def __init__(self, worker: WorkerPipe) -> None:
        super().__init__()
        self._worker = worker

    def emit(self, record: logging.LogRecord) -> None:
        self._worker.say(wire.Log(record.levelno, self.format(record)))


def outcome(start: wire.StartBody, worker: WorkerPipe) -> wire.Outcome:
    """Everything that user code does is an outcome, its import included."""
    try:
        function = load(start.home)[start.name]
        return wire.Returned(_call(function, json.loads(start.values), start.context.context(worker)))
    except JobFailed as error:
        return wire.BodyFailed(str(error), error.kind, error.permanent, error.retry_after)
    except Snooze as error:
        return wire.BodySnoozed(error.delay)
    except NotHere as error:
        return wire.Absent(str(error))
    except Stopped:
        return wire.BodyEnded()
    except BaseException as error:  # SystemExit too: it ends the function, not the conversation.
        logging.getLogger("gnomon.job").warning(
            "attempt %d raised", start.context.attempt, exc_info=raised(error)
        )
        return wire.BodyFailed(str(error), type(error).__name__)


def _call(function: Function, values: dict[str, object], context: Context) -> str:
    arguments = function.signature.arguments(values)  # type: ignore[arg-type]  # It was JSON a moment ago.
    if function.signature.context_name is not None:
        arguments[function.signature.context_name] = context
    result = function.call(**arguments)
    if function.is_async:
        result = asyncio.run(result)
    try:
        return Document.of(as_json(result), field="result", bytes_max=RESULT_BYTES_MAX).text
    except InvalidInput as error:
        raise JobFailed(str(error), kind="bad_result", permanent=True) from error


def main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    connection.set_inheritable(False)  # What the function starts is not part of the conversation.
    worker = WorkerPipe(connection, connection.makefile("rb"))
    match worker.hear():
        case wire.StartBody() as start:
            pass
        case wire.StopBody() | wire.Saved():
            return
        case never:
            assert_never(never)
    sys.path[:] = start.path
    logging.basicConfig(handlers=[LogToWorker(worker)], level=start.log_level, format="%(message)s")
    threading.Thread(target=worker.listen, daemon=True).start()
    ended = outcome(start, worker)
    sys.stdout.flush()
    sys.stderr.flush()
    worker.say(ended)
    threading.Event().wait()  # The worker ends this process, with all that the function left behind.


if __name__ == "__main__":
    main()
