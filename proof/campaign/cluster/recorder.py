"""What a worker of the campaign writes down about itself, in a file of its own."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from gnomon.core.executions.decisions import Decision
from gnomon.handlers.base import Context
from proof.campaign import clock
from proof.checker.history import events
from proof.checker.history.events import Event
from proof.checker.history.files import History

SOURCE, FOLDER, SLOTS = "CAMPAIGN_SOURCE", "CAMPAIGN_FOLDER", "CAMPAIGN_SLOTS"

# What the engine says when the store turned something away, or answered a question for the second time.
REFUSED = "late result refused"
LOST = "lease lost; attempt stopped"
AGAIN = "claim answered again"

E = TypeVar("E", bound=Event)


class Recorder(logging.Handler):
    """Listens to the log of the engine, too: there it says what was refused."""

    def __init__(self, folder: Path, source: str) -> None:
        super().__init__()
        self._history = History(folder / f"{source.replace('/', '.')}.jsonl", source, now=clock.now)
        self._decided = (folder / f"{source.replace('/', '.')}.decided").open("ab", buffering=0)
        self._turn = threading.Lock()  # Handlers run in threads, too.

    def write(self, make: Callable[..., E], **fields: object) -> None:
        with self._turn:
            self._history.write(make, **fields)

    def emit(self, record: logging.LogRecord) -> None:
        said = vars(record)
        match record.msg:
            case message if message == REFUSED:
                self.write(events.Refused, run=said["execution"], token=said["claim"], op="complete")
            case message if message == LOST:
                self.write(events.BeatRefused, run=said["execution"], token=said["claim"])
            case message if message == AGAIN:
                self.write(events.Again, op="claim", req=said["request"])
            case _:
                pass

    def decided(self, decisions: Sequence[Decision], at: datetime) -> None:
        """No event of its own: when something was decided belongs to the event of the change."""
        for claim in (one.claim for one in decisions):
            self._decided.write(f"{claim.execution_id} {claim.number} {at.isoformat()}\n".encode())

    @contextmanager
    def attempt(
        self, context: Context, inputs: Mapping[str, tuple[str, ...]] | None = None
    ) -> Iterator[dict[str, object]]:
        """From the first to the last moment of an attempt. `inputs`: whose results it was given."""
        run, token = str(context.execution_id), context.claim
        who: dict[str, object] = {"run": run, "attempt": context.attempt, "token": token}
        self.write(events.Start, inputs=inputs, **who)
        try:
            yield who
        except Exception:
            self.write(events.Exit, rc=1, **who)
            raise
        except BaseException:  # Cancelled or Stopped: somebody wants it to end.
            self.write(events.Told, run=run, token=token)
            self.write(events.Exit, rc=1, **who)
            raise
        self.write(events.Exit, **who)


def recorder_of_this_process() -> Recorder:
    """Made when the worker imports the jobs of the campaign: from then on it can be asked to work."""
    recorder = Recorder(Path(os.environ[FOLDER]), os.environ[SOURCE])
    recorder.write(events.Up, role="worker", slots=int(os.environ[SLOTS]))
    for name in ("gnomon.engine.workers.worker", "gnomon.engine.workers.completer"):
        logging.getLogger(name).addHandler(recorder)
    return recorder


def decisions(folder: Path) -> Mapping[tuple[str, int], datetime]:
    """When workers decided what becomes of an attempt, by run and token."""
    lines = [line.split() for path in folder.glob("*.decided") for line in path.read_text().splitlines()]
    return {(run, int(token)): datetime.fromisoformat(at) for run, token, at in lines}
