"""`python -m benchmarks NAME [--json]`: a table for people; with --json the last line is one JSON object.

With `--against COMMIT`, the benchmark runs in turns with that commit, and the table compares the two.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil

import benchmarks
from benchmarks._against import run_against


def main() -> None:
    known = sorted(
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if not module.name.startswith("_")
    )
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure a part of Gnomon.")
    parser.add_argument("name", choices=known, help="the benchmark to run")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON on the last line")
    parser.add_argument("--against", metavar="COMMIT", help="run it in turns with an earlier commit")
    parser.add_argument("--turns", type=int, default=3, help="how often, with --against (default: 3)")
    asked = parser.parse_args()

    if asked.against:
        report = run_against(asked.name, asked.against, turns=asked.turns)
    else:
        report = importlib.import_module(f"benchmarks.{asked.name.replace('-', '_')}").run()
    print(report.table)
    if asked.json:
        print(json.dumps(report.numbers))


if __name__ == "__main__":
    main()
