"""Runs a benchmark in turns with an earlier commit and compares the figures.

The earlier commit is checked out into a worktree. Each tree runs its own benchmark with its own package.
The median of the ratios counts, so that a machine that becomes slower between two turns disturbs both alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.progress import Progress

from benchmarks import Report

ROOT = Path(__file__).resolve().parent.parent


def run_against(name: str, commit: str, *, turns: int) -> Report:
    found: list[tuple[dict[str, float], dict[str, float]]] = []
    with checked_out(commit) as before, Progress(transient=True) as progress:
        task = progress.add_task(f"{name}, in turns with {commit}", total=2 * turns)

        def measured(tree: Path) -> dict[str, float]:
            numbers = figures(_run(name, tree))
            progress.advance(task)
            return numbers

        for turn in range(turns):
            # The two trees take turns in going first, so that neither always runs on a warmer machine.
            trees = (before, ROOT) if turn % 2 == 0 else (ROOT, before)
            numbers = {tree: measured(tree) for tree in trees}
            found.append((numbers[before], numbers[ROOT]))
    return _report(found)


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        _describe(tree)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _describe(tree: Path) -> None:
    """Its handlers are found by its own entry points, not by those of the package that is installed here."""
    groups = tomllib.loads((tree / "pyproject.toml").read_text())["project"].get("entry-points", {})
    described = tree / "src" / "gnomon-0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: gnomon\nVersion: 0\n")
    lines = [
        line
        for group, ours in groups.items()
        for line in (f"[{group}]", *(f"{k} = {v}" for k, v in ours.items()))
    ]
    (described / "entry_points.txt").write_text("\n".join(lines))


def figures(numbers: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Every number of a report, by the path to it."""
    found: dict[str, float] = {}
    for key, value in numbers.items():
        if isinstance(value, Mapping):
            found |= figures(value, f"{prefix}{key}.")
        elif isinstance(value, int | float):
            found[prefix + key] = float(value)
    return found


def _run(name: str, tree: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree}"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", name, "--json"],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    numbers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return numbers


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=ROOT, check=True)


def _report(found: list[tuple[dict[str, float], dict[str, float]]]) -> Report:
    keys = [key for key in found[0][1] if all(key in before and key in now for before, now in found)]
    lines = [f"{'':34}{'before':>12}{'now':>12}{'ratio':>8}   of the single turns"]
    numbers: dict[str, Any] = {}
    for key in keys:
        ratios = [now[key] / before[key] for before, now in found if before[key]]
        if not ratios:
            continue
        middle = {
            "before": round(median(before[key] for before, _ in found), 3),
            "now": round(median(now[key] for _, now in found), 3),
            "ratio": round(median(ratios), 3),
        }
        numbers[key] = middle
        singles = " ".join(f"{ratio:.2f}" for ratio in ratios)
        lines.append(
            f"{key:34}{middle['before']:>12,.6g}{middle['now']:>12,.6g}{middle['ratio']:>8.3f}   {singles}"
        )
    return Report("\n".join(lines), numbers)
