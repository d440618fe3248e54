"""One bug and who catches it: a test that is named for it, or a seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from proof.exam.planting import Bug, plant

ROOT = Path(__file__).parents[2]
# A bug may make the worlds of its candidate slow, or endless: then it was not caught, and the exam goes on.
PATIENCE_SECONDS = 900
TESTS_PATIENCE_SECONDS = 180
TESTS_FAILED = 1  # What pytest ends with when tests ran and some failed.


@dataclass(frozen=True, slots=True)
class Grade:
    """`by` is what caught it, or nothing; `seed` the world that did, if it was one."""

    bug: Bug
    by: str
    after: str
    seconds: float
    seed: int | None = None
    what: str = ""

    @property
    def is_caught(self) -> bool:
        return bool(self.by)

    def __str__(self) -> str:
        if not self.is_caught:
            return f"{self.bug.name}: SURVIVES {self.after}"
        return f"{self.bug.name}: {self.by} after {self.after}, {self.seconds:.0f} s. {self.what}"


def examine(bug: Bug, *, first: int, count: int, hours: float) -> Grade:
    began = monotonic()
    with TemporaryDirectory() as folder:
        place = plant(bug, Path(folder) / "src")
        if bug.caught_by:
            test = _failing_test(bug, place)
            return Grade(bug, test, "its tests", monotonic() - began)
        try:
            told = _asked(place, "proof.exam.candidate", str(place), str(first), str(count), str(hours))
        except subprocess.TimeoutExpired:
            return Grade(bug, "", f"{PATIENCE_SECONDS} s", monotonic() - began)
    if told.returncode:
        raise RuntimeError(f"{bug.name}: the candidate could not be heard.\n{told.stderr}")
    found = json.loads(told.stdout)
    seconds = monotonic() - began
    if found is None:
        return Grade(bug, "", f"{count} seeds", seconds)
    tried = found["seed"] - first + 1
    after = f"{tried} seed{'s' if tried > 1 else ''}"
    what = found["what"].partition("\n")[0]
    return Grade(bug, " ".join(found["rules"]), after, seconds, found["seed"], what)


def _failing_test(bug: Bug, place: Path) -> str:
    try:
        told = _asked(
            place,
            "pytest",
            *("-q", "-x", "-p", "no:cacheprovider", "-m", "not thorough"),
            *("-k", "postgres" if bug.is_in_postgres else "not postgres"),
            *bug.caught_by,
            patience=TESTS_PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ""  # Who hangs tells nobody what is wrong.
    failed = [line for line in told.stdout.splitlines() if line.startswith("FAILED ")]
    if told.returncode != TESTS_FAILED or not failed:
        return ""
    return failed[0].removeprefix("FAILED ").partition(" - ")[0].rpartition("::")[2]


def _asked(
    place: Path, module: str, *arguments: str, patience: float = PATIENCE_SECONDS
) -> subprocess.CompletedProcess[str]:
    """By a Python that finds the product with the bug before any other."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(place), str(ROOT)))},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )
