"""The report of a campaign: one page in Markdown, and the same with pictures in HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import msgspec

from proof.campaign.plan import WHAT, Kind
from proof.campaign.report.figures import Figures, Limit, Times
from proof.campaign.report.judging import FAILOVER, FIRST_CLAIM, NOT_HERE, RECLAIM, Judgement, judged
from proof.campaign.report.plots import COLOURS, WHOSE, distribution, throughput
from proof.checker.verdict import Verdict

Row = Sequence[str]
CIRCUMSTANCES = "circumstances.json"

STYLE = """body{font:15px/1.5 sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}
.bad{background:#fbe3e0}pre{background:#f5f5f5;padding:.6rem;overflow:auto}"""


@dataclass(frozen=True, slots=True)
class Table:
    head: Row
    rows: Sequence[Row]
    bad: frozenset[int] = frozenset()


class Circumstances(msgspec.Struct, frozen=True):
    """What the histories do not say. Kept beside them, so that they can be judged once more."""

    command: str
    lease: float
    faults_min: int
    coverage: int
    stale_accepted: int
    unexpected: list[str]
    skipped: dict[str, str]  # What could not be broken, and why.
    not_covered: list[str]  # What did not happen for that reason.
    facts: dict[str, str]


def keep_circumstances(folder: Path, circumstances: Circumstances) -> None:
    (folder / CIRCUMSTANCES).write_bytes(msgspec.json.encode(circumstances))


def report_of(folder: Path) -> Report:
    """Judge what a campaign kept in a folder."""
    known = msgspec.json.decode((folder / CIRCUMSTANCES).read_bytes(), type=Circumstances)
    judgement = judged(
        folder / "history",
        lease=known.lease,
        without=known.not_covered,
        faults_min=known.faults_min,
        coverage=known.coverage,
        stale_accepted=known.stale_accepted,
        unexpected=len(known.unexpected),
    )
    return Report(judgement, known)


@dataclass(frozen=True, slots=True)
class Report:
    """What the page says."""

    judgement: Judgement
    circumstances: Circumstances

    @property
    def is_clean(self) -> bool:
        return self.judgement.is_clean

    def _parts(self) -> Iterator[tuple[str, Table | str]]:
        """Headings, each with a table or a text."""
        judgement = self.judgement
        figures, verdict = judgement.figures, judgement.verdict
        yield "Must hold", _limits(judgement.limits)
        facts = self.circumstances.facts | {
            "runs acknowledged to clients": str(figures.acknowledged),
            "events in the history": str(verdict.events),
        }
        yield "Circumstances", Table(("what", "value"), list(facts.items()))
        yield (
            "Faults",
            Table(
                ("kind", "times", "what was done"),
                [(kind, str(count), WHAT[Kind(kind)]) for kind, count in sorted(figures.faults.items())],
            ),
        )
        if skipped := self.circumstances.skipped:
            yield "Left out", Table(("what", "why"), list(skipped.items()))
        yield "Times to recover", _recovery(figures)
        yield "Invariants", _invariants(verdict)
        yield (
            "Coverage",
            Table(
                ("what", "seen"),
                [(name, _seen(name, count)) for name, count in verdict.coverage.items()],
            ),
        )
        told = [
            f"{one.violation.invariant} {one.violation.entity}: {one.violation.what}" for one in verdict.told
        ]
        if lines := [*verdict.missing, *self.circumstances.unexpected, *told]:
            yield "What is wrong", "\n".join(lines[:50])

    @property
    def _verdict(self) -> str:
        outcome = self.judgement.verdict.outcome
        limits = "all limits hold" if all(one.holds for one in self.judgement.limits) else "a limit is broken"
        return f"The checker says: {outcome}; {limits}."

    @property
    def markdown(self) -> str:
        lines = [
            "# Report of a campaign",
            "",
            f"{self._verdict} Pictures are in [the same page in HTML](campaign-report.html).",
            "What it all means is in [how to run the campaign](../how-to/run-the-campaign.md).",
            "",
            "```bash",
            self.circumstances.command,
            "```",
        ]
        for heading, part in self._parts():
            lines += ["", f"## {heading}", "", *(_as_markdown(part))]
        return "\n".join(lines) + "\n"

    @property
    def html(self) -> str:
        figures, limits = self.judgement.figures, {one.what: one.limit for one in self.judgement.limits}
        legend = ", ".join(
            f'<span style="color:{COLOURS[whose]}">■</span> {name}' for whose, name in WHOSE.items()
        )
        pictures = [
            f"<h2>Throughput, with a band for each fault</h2><p>{legend}</p>{throughput(figures)}",
            "<h2>Recovery: how many took at most so long; the dashed line is the limit</h2>",
            *(
                distribution(times, limits[name], name)
                for name, times in (
                    (RECLAIM, figures.reclaims),
                    (FAILOVER, figures.failovers),
                    (FIRST_CLAIM, figures.first_claims),
                )
                if times.seconds
            ),
        ]
        parts = [f"<h2>{escape(heading)}</h2>{_as_html(part)}" for heading, part in self._parts()]
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Report of a campaign</title>'
            f"<style>{STYLE}</style><h1>Report of a campaign</h1><p>{escape(self._verdict)}</p>"
            f"<pre>{escape(self.circumstances.command)}</pre>{parts[0]}{''.join(pictures)}{''.join(parts[1:])}</html>\n"
        )


def _limits(limits: Sequence[Limit]) -> Table:
    rows = [
        (
            one.what,
            "nothing measured" if one.found is None else f"{one.found:.4g} {one.unit}".strip(),
            f"{'at least' if one.is_least else 'at most'} {one.limit:g} {one.unit}".strip(),
            "yes" if one.holds else "NO",
        )
        for one in limits
    ]
    return Table(
        ("what", "found", "limit", "holds"),
        rows,
        frozenset(n for n, one in enumerate(limits) if not one.holds),
    )


def _recovery(figures: Figures) -> Table:
    rows = [
        ("SIGKILL of a worker, next claim of what it held", *_times(figures.reclaims)),
        ("SIGKILL of a scheduler, its due times fired by another", *_times(figures.failovers)),
        ("database accepts again, first claim", *_times(figures.first_claims)),
    ]
    return Table(("from, to", "cases", "p50", "p99", "max"), rows)


def _invariants(verdict: Verdict) -> Table:
    rows = [(one.invariant, str(one.checked), str(len(one.violations))) for one in verdict.findings]
    bad = frozenset(number for number, one in enumerate(verdict.findings) if one.violations)
    return Table(("name", "cases", "broken"), rows, bad)


def _times(times: Times) -> Row:
    shares = [times.at(share) for share in (0.5, 0.99, 1.0)]
    return (str(len(times.seconds)), *("-" if one is None else f"{one:.2f} s" for one in shares))


def _seen(name: str, count: int) -> str:
    return f"{count} ({NOT_HERE[name]})" if name in NOT_HERE and not count else str(count)


def _as_markdown(part: Table | str) -> list[str]:
    if isinstance(part, str):
        return ["```text", part, "```"]
    return [
        _row(part.head),
        _row(["---"] * len(part.head)),
        *(_row(row) for row in part.rows),
    ]


def _row(cells: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _as_html(part: Table | str) -> str:
    if isinstance(part, str):
        return f"<pre>{escape(part)}</pre>"
    head = "".join(f"<th>{escape(cell)}" for cell in part.head)
    rows = "".join(
        f"<tr{' class=bad' if number in part.bad else ''}>" + "".join(f"<td>{escape(cell)}" for cell in row)
        for number, row in enumerate(part.rows)
    )
    return f"<table><tr>{head}{rows}</table>"
