"""How long the checker takes for a million events, and how much memory: from files to verdict."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import Report
from proof.checker.history.files import write
from tests.unit.proof.checker.model import large_history

EVENTS = 1_000_000
FILES = 4
SECONDS_MAX = 30.0  # Of its own: what others do on the machine is not the checker's fault.
MEGABYTES_MAX = 1000.0

# In a process of its own, so that its peak is not that of the model that wrote the history.
CHECK = """
import json, resource, sys, time
from pathlib import Path
from proof.checker.judge import check
from proof.checker.history.files import read
begin, cpu = time.perf_counter(), time.process_time()
events = read([Path(name) for name in sys.argv[1:]])
known = time.perf_counter()
verdict = check(events, coverage_min=0)
end = time.perf_counter()
print(json.dumps({
    "events": verdict.events,
    "outcome": verdict.outcome,
    "cases": sum(one.checked for one in verdict.findings),
    "read_seconds": round(known - begin, 2),
    "check_seconds": round(end - known, 2),
    "seconds": round(end - begin, 2),
    "events_per_second": round(verdict.events / (end - begin)),
    "cpu_seconds": round(time.process_time() - cpu, 2),
    "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
}))
"""


def run() -> Report:
    with TemporaryDirectory() as folder:
        paths = _histories(Path(folder))
        done = subprocess.run(
            [sys.executable, "-c", CHECK, *paths], capture_output=True, text=True, check=True
        )
    numbers = json.loads(done.stdout)
    numbers["goals_met"] = (
        numbers["outcome"] == "valid"
        and numbers["cpu_seconds"] <= SECONDS_MAX
        and numbers["peak_mb"] <= MEGABYTES_MAX
    )
    table = "\n".join(f"{name:<18} {value}" for name, value in numbers.items())
    return Report(table, numbers)


def _histories(folder: Path) -> list[Path]:
    events = large_history(EVENTS)
    paths = [folder / f"{number}.jsonl" for number in range(FILES)]
    for number, path in enumerate(paths):
        write(path, events[number::FILES])
    return paths
