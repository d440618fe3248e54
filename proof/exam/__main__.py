"""`make sim-exam`: plant every bug, see who catches it, print the table. Ends with 1 if one survives."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta
from time import monotonic

from rich.console import Console
from rich.table import Table

from proof.exam.bugs import BUGS
from proof.exam.candidate import profile_of
from proof.exam.examination import Grade, examine
from proof.exam.planting import Bug
from proof.simulator.judging.many_worlds import judged


def main() -> int:
    options = _options()
    part, parts = map(int, options.part.split("/"))
    bugs = [
        one
        for one in BUGS[part - 1 :: parts]
        if not options.only or any(word in one.name for word in options.only)
    ]
    console = Console(width=None if sys.stdout.isatty() else 150)
    grades, began = [], monotonic()
    for grade in _grades(bugs, options):
        grades.append(grade)
        console.print(f"{len(grades)}/{len(bugs)} {grade}", highlight=False, soft_wrap=True)
    console.print(_table(grades))
    survivors = [grade for grade in grades if not grade.is_caught]
    took = timedelta(seconds=round(monotonic() - began))
    console.print(f"{len(grades) - len(survivors)} of {len(grades)} bugs caught in {took}")
    innocent = _accused_without_a_bug(grades, options)
    for what in innocent:
        console.print(f"wrong without a bug, too: {what}", soft_wrap=True)
    return 1 if survivors or innocent else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make sim-exam", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="How many worlds may pass before it survives.")
    parser.add_argument("--seed", type=int, default=1, help="The first of them.")
    parser.add_argument("--hours", type=float, default=0.5)
    parser.add_argument("--only", nargs="*", default=[], help="Words of the names of bugs.")
    parser.add_argument("--part", default="1/1", help="Every third one, from the second on: 2/3.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="How many bugs at a time.")
    return parser.parse_args()


def _grades(bugs: list[Bug], options: argparse.Namespace) -> Iterator[Grade]:
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = [
            pool.submit(examine, one, first=options.seed, count=options.seeds, hours=options.hours)
            for one in bugs
        ]
        for future in as_completed(waiting):
            yield future.result()


def _table(grades: list[Grade]) -> Table:
    table = Table("bug", "caught by", "after", "s")
    for grade in grades:
        table.add_row(grade.bug.name, grade.by, grade.after, f"{grade.seconds:.0f}")
    return table


def _accused_without_a_bug(grades: list[Grade], options: argparse.Namespace) -> list[str]:
    """The worlds that told must be fine without a bug. Else they told of something else."""
    seeds: dict[str, set[int]] = defaultdict(set)
    for grade in grades:
        if grade.seed is not None:
            seeds[profile_of(grade.seed)].add(grade.seed)
    return [
        f"seed {one.scenario.seed}: {one.wrong[0]}"
        for profile, those in seeds.items()
        for one in judged(sorted(those), hours=options.hours, profile=profile, processes=options.jobs)
        if one.wrong
    ]


if __name__ == "__main__":
    sys.exit(main())
