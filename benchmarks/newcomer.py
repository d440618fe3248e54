"""What a newcomer waits for: the set-up of `make up`, next to that of `make test`.

Both begin without an environment, and with the same cache of downloads (filled first). They take turns.

up, test    seconds until the environment is complete; setup_ratio is the median of the ratios of the turns
start       seconds until `gnomon up` answers: in a new environment, where Python compiles what it imports,
            and once more
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.progress import Progress

from benchmarks import Report
from tests.postgres import free_port

ROOT = Path(__file__).resolve().parents[1]
TURNS = 5
GOAL = 0.4
RUNTIME, DEVELOPMENT = "runtime", "development"


def run() -> Report:
    with tempfile.TemporaryDirectory() as place, Progress(transient=True) as progress:
        task = progress.add_task("setting up", total=2 * TURNS + 1)

        def seconds(asked: str) -> float:
            took = set_up(asked, Path(place, asked))
            progress.advance(task)
            return took

        seconds(DEVELOPMENT)  # Fills the cache, and does not count.
        turns = [one_turn(seconds, turn) for turn in range(TURNS)]
        starts = [start(Path(place, RUNTIME), Path(place, f"data-{number}")) for number in range(2)]
    return report(turns, starts)


def one_turn(seconds: Callable[[str], float], turn: int) -> tuple[float, float]:
    # Both go first as often, so that neither always meets a warmer machine.
    order = (RUNTIME, DEVELOPMENT) if turn % 2 == 0 else (DEVELOPMENT, RUNTIME)
    took = {asked: seconds(asked) for asked in order}
    return took[RUNTIME], took[DEVELOPMENT]


def set_up(asked: str, environment: Path) -> float:
    shutil.rmtree(environment, ignore_errors=True)
    started = time.monotonic()
    make = ["make", "--silent", asked, f"VENV={environment}", f"PYTHON={sys._base_executable}"]  # type: ignore[attr-defined]
    subprocess.run(make, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def start(environment: Path, folder: Path) -> float:
    """Until it says where it can be reached, which it does when it can."""
    folder.mkdir()
    variables = {"GNOMON_DATA_FOLDER": str(folder), "XDG_CONFIG_HOME": str(folder)}
    started = time.monotonic()
    with subprocess.Popen(
        [environment / "bin" / "gnomon", "up", "--port", str(free_port())],
        cwd=folder,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if "ready at" in line:
                    return time.monotonic() - started
            raise RuntimeError(f"gnomon up ended:\n{''.join(said)}")
        finally:
            process.terminate()


def report(turns: Sequence[tuple[float, float]], starts: Sequence[float]) -> Report:
    numbers: dict[str, object] = {
        "setup_ratio": round(median(up / test for up, test in turns), 3),
        "up_s": round(median(up for up, _ in turns), 1),
        "test_s": round(median(test for _, test in turns), 1),
        "first_start_s": round(starts[0], 1),
        "second_start_s": round(starts[1], 1),
    }
    lines = [f"{'':16}{'measured':>10}{'goal':>10}"]
    goals = {"setup_ratio": f"<= {GOAL:g}"}
    lines += [f"{name:16}{figure!s:>10}{goals.get(name, ''):>10}" for name, figure in numbers.items()]
    return Report("\n".join(lines), numbers | {"turns": [f"{up:.1f} / {test:.1f}" for up, test in turns]})
