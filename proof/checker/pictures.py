"""A picture of one job: its due times, its runs, and the faults behind them, over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape

from proof.checker.calendar.ledger import Due, Ledger
from proof.checker.faults import FOREVER, Fault
from proof.checker.history.events import Cancelled, Done
from proof.checker.index import Index
from proof.checker.invariants.calendar import is_owed
from proof.checker.runs import Run, Segment

SVG = "http://www.w3.org/2000/svg"
WIDTH, MARGIN, ROW, TOP = 1200, 20, 10, 60
RUNS_MAX = 400
DUES_MAX = 4000
GREEN, RED, BLUE, GREY, AMBER = "#2e8b57", "#c62828", "#4477aa", "#888888", "#dd8800"


@dataclass(frozen=True, slots=True)
class _Scale:
    begin: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{self.begin.isoformat()} to {self.end.isoformat()}"

    def x(self, at: datetime) -> float:
        whole = (self.end - self.begin) / timedelta(seconds=1)
        share = (min(max(at, self.begin), self.end) - self.begin) / timedelta(seconds=1) / whole
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)


def svg(index: Index, job: str) -> str:
    """Due times on top: green fired, blue skipped, red left out. A line for each run. Faults are bands."""
    runs = sorted(index.runs_of.get(job, []), key=lambda run: run.births[0].db or FOREVER)[:RUNS_MAX]
    ledger = index.ledgers.get(job)
    scale = _scale(index, runs, ledger)
    height = TOP + ROW * (len(runs) + 2)
    parts = [
        f'<svg xmlns="{SVG}" width="{WIDTH}" height="{height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *(_band(fault, scale, height) for fault in index.faults.all if fault.begin <= scale.end),
        f'<text x="{MARGIN}" y="18" font-size="13">{escape(job)}</text>',
        f'<text x="{MARGIN}" y="34" font-size="10" fill="{GREY}">{scale}</text>',
        *(_tick(index, ledger, due, scale) for due in (ledger.dues[:DUES_MAX] if ledger else ())),
    ]
    for row, run in enumerate(runs):
        parts += _line(run, scale, TOP + ROW * (row + 1))
    return "\n".join([*parts, "</svg>\n"])


def _scale(index: Index, runs: list[Run], ledger: Ledger | None) -> _Scale:
    times = [row.db for run in runs for row in run.rows if row.db is not None]
    times += [due.at for due in ledger.dues[:DUES_MAX]] if ledger else []
    times += [index.read_at] if index.read_at is not None else []
    begin = min(times, default=FOREVER)
    return _Scale(begin, max([*times, begin + timedelta(seconds=1)]))


def _band(fault: Fault, scale: _Scale, height: int) -> str:
    x = scale.x(fault.begin)
    width = scale.x(fault.end_for_others) - x
    return (
        f'<rect x="{x}" y="40" width="{max(1.0, round(width, 1))}" height="{height - 40}" fill="{AMBER}"'
        f' fill-opacity="0.15"><title>{escape(f"{fault.kind} {fault.target}")}</title></rect>'
    )


def _tick(index: Index, ledger: Ledger | None, due: Due, scale: _Scale) -> str:
    if due.fires:
        colour, what = GREEN, "fired"
    elif due.skips:
        colour, what = BLUE, f"skipped: {due.skips[0].why}"
    elif ledger is not None and is_owed(index, ledger, due):
        colour, what = RED, "left out"
    else:
        colour, what = GREY, "not decided"
    return (
        f'<circle cx="{scale.x(due.at)}" cy="{TOP - 8}" r="3" fill="{colour}">'
        f"<title>{due.at.isoformat()} {escape(what)}</title></circle>"
    )


def _line(run: Run, scale: _Scale, y: int) -> Iterator[str]:
    for segment in run.segments:
        if segment.claim.db is None:
            continue
        end = segment.end.db if segment.end is not None and segment.end.db is not None else scale.end
        x = scale.x(segment.claim.db)
        width = max(1.0, round(scale.x(end) - x, 1))
        title = escape(f"{run.id}, attempt {segment.claim.attempt} on {segment.claim.holder}")
        yield (
            f'<rect x="{x}" y="{y}" width="{width}" height="{ROW - 3}" fill="{_colour(segment)}">'
            f"<title>{title}</title></rect>"
        )


def _colour(segment: Segment) -> str:
    if isinstance(segment.end, Done):
        return GREEN
    return GREY if isinstance(segment.end, Cancelled) else RED
