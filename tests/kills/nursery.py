"""Real API nodes at a fraction of the price: forked from a process that has imported Gnomon, and waits.

A node that starts from nothing spends most of its start on imports. The nursery has done them. It has one
thread, no event loop and no connections, so that a child of it begins where `gnomon api` begins: with the
command line. From there on it is a process like any other.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[2]
LOG = "nodes.log"
# What a node imports only when it starts.
LATE = ("gnomon.app.processes.serving", "anyio._backends._asyncio")
ENVIRONMENT = {
    "GNOMON_API_SUBMISSIONS_PER_MINUTE": "off",
    "GNOMON_API_QUERIES_PER_MINUTE": "off",
    "SSL_CERT_FILE": os.devnull,  # Nobody is called over TLS here, and to read them is a tenth of a start.
}

Command = Callable[[Sequence[str]], object]


class Nursery:
    """Use it as a context manager. Its nodes end when it does."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | ENVIRONMENT,
            start_new_session=True,  # Ctrl-C is for us; the nursery ends when we do.
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def start(self, folder: Path, *words: str) -> int:
        """A process that runs `gnomon` with these words, in that folder. Returns its id."""
        return int(self._asked({"folder": str(folder), "words": words}))

    def bury(self, *ids: int) -> list[int]:
        """Wait for the end of these processes. Returns their exit codes; that of a signal is negative."""
        return list(self._asked({"bury": ids}))

    def _asked(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._one_at_a_time:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return json.loads(self._process.stdout.readline())


def _serve() -> None:
    command = _imported()
    living: set[int] = set()
    for line in sys.stdin:
        match json.loads(line):
            case {"folder": folder, "words": words}:
                answer: Any = _fork(command, folder, words)
                living.add(answer)
            case {"bury": ids}:
                answer = [os.waitstatus_to_exitcode(os.waitpid(process_id, 0)[1]) for process_id in ids]
                living -= set(ids)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    for process_id in living:  # Whoever gave the orders is gone.
        os.kill(process_id, signal.SIGKILL)


def _imported() -> Command:
    """The program, once all is imported that a node will need."""
    from litestar import Litestar
    from typer.main import get_command

    from gnomon.cli import app

    for name in LATE:
        importlib.import_module(name)
    for handler in entry_points(group="gnomon.handlers"):
        handler.load()
    Litestar([], logging_config=None, openapi_config=None)  # Imports its plugins, and starts no thread.
    command = get_command(app)
    gc.collect()
    gc.freeze()  # A child that collects garbage would copy all of it first.
    return command


def _fork(command: Command, folder: str, words: Sequence[str]) -> int:
    assert threading.active_count() == 1, "what threads hold would be held in the child for ever"
    if process_id := os.fork():
        return process_id
    try:
        _become_a_node(command, folder, words)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)  # It must never go on with the work of the nursery.


def _become_a_node(command: Command, folder: str, words: Sequence[str]) -> None:
    os.chdir(folder)
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for own, theirs in ((0, nothing), (1, log), (2, log)):
        os.dup2(theirs, own)
    command(words)


if __name__ == "__main__":
    _serve()
