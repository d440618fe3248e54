"""A program that stays, such as `gnomon up`: started, and awaited by what it says."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

SECONDS_MAX = 120  # From start to end; then it is killed, and the test fails.


@contextmanager
def started(
    command: Sequence[str | Path], *, folder: Path, variables: Mapping[str, str], until: str
) -> Iterator[list[str]]:
    """The lines that it has said once one of them contains `until`. At the end of the block, all of them."""
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        watchdog = threading.Timer(SECONDS_MAX, process.kill)
        watchdog.start()
        output = process.stdout
        assert output is not None
        try:
            said: list[str] = []
            for line in output:
                said.append(line)
                if until in line:
                    break
            else:
                raise AssertionError(f"{command} ended:\n{''.join(said)}")
            yield said
        finally:
            process.terminate()
            said += output
            process.wait()
            watchdog.cancel()
