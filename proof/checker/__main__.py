"""`make judge`, or `python -m proof.checker`: judge a history that a campaign wrote down."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, assert_never

import typer

from proof.checker.coverage import COVERAGE
from proof.checker.history.events import Event, name_of
from proof.checker.history.files import InvalidHistory, line, read
from proof.checker.index import Index, index_of
from proof.checker.judge import INVARIANTS, judge
from proof.checker.pictures import svg
from proof.checker.verdict import Findings, Outcome, Told, Verdict

EXITS = {Outcome.VALID: 0, Outcome.INVALID: 1, Outcome.UNKNOWN: 3}
WRONG_USAGE = 2
LINE_LENGTH_MAX = 200


class Output(StrEnum):
    TABLE = "table"
    JSON = "json"


Histories = Annotated[
    list[Path], typer.Argument(metavar="HISTORY", help="Files of events, or folders of *.jsonl.")
]
Pictures = Annotated[
    Path | None, typer.Option("--svg", metavar="FOLDER", help="Draw a picture of each job there.")
]
Coverage = Annotated[
    int, typer.Option("--coverage", min=0, help="How often each thing must have happened; 0: never mind.")
]
Without = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="NAME", help="Something that this campaign cannot make happen."),
]


app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def check(
    histories: Histories,
    pictures: Pictures = None,
    coverage: Coverage = 1,
    without: Without = None,
    output: Annotated[
        Output, typer.Option("--output", help="For people, or for programs.", case_sensitive=False)
    ] = Output.TABLE,
) -> None:
    """Judge a history of events: does everything hold that Gnomon promises?

    Exit code 0 if it does, 1 if not, 3 if too little happened to be sure.

    Examples:
    ```
    python -m proof.checker run.jsonl
    python -m proof.checker broken/history --svg pictures --without "DST gap"
    python -m proof.checker run.jsonl --output json | jq .violations
    make judge HISTORY=broken/history SVG=pictures
    ```
    """
    unknown = set(without or ()) - COVERAGE.keys()
    if unknown:
        raise typer.BadParameter(f"--without: {min(unknown)!r} is not one of: {'; '.join(COVERAGE)}.")
    index = index_of(read(list(_files(histories))))
    verdict = judge(index, coverage_min=coverage, without=without or ())
    if pictures is not None:
        _draw(index, pictures)
    match output:
        case Output.TABLE:
            typer.echo("\n".join(_as_lines(verdict)))
        case Output.JSON:
            typer.echo(json.dumps(_as_json(verdict), indent=2))
        case _:
            assert_never(output)
    raise typer.Exit(EXITS[verdict.outcome])


def _files(histories: Sequence[Path]) -> Iterator[Path]:
    for path in histories:
        yield from sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def _draw(index: Index, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, job in enumerate(sorted(index.ledgers), start=1):
        name = re.sub(r"[^\w.-]", "_", job, flags=re.ASCII)[:100]
        # The number keeps jobs apart whose names differ only in what a file name cannot have.
        (folder / f"{number:04}-{name}.svg").write_text(svg(index, job), encoding="utf-8")


# For people ---------------------------------------------------------------------------------------


def _as_lines(verdict: Verdict) -> Iterator[str]:
    yield f"Verdict: {verdict.outcome} ({verdict.events} events)"
    yield from (f"Missing: {reason}" for reason in verdict.missing)
    yield ""
    yield f"{'INVARIANT':<10}{'CASES':>10}{'BROKEN':>8}  WHAT MUST HOLD"
    for found in verdict.findings:
        yield (
            f"{found.invariant:<10}{found.checked:>10}{len(found.violations):>8}  {sentence(found.invariant)}"
        )
        if found.measured:
            yield f"{'':<30}{_measured(found)}"
    yield ""
    yield f"{'SEEN':>10}  COVERAGE"
    yield from (f"{count:>10}  {name}" for name, count in verdict.coverage.items())
    for told in verdict.told:
        yield ""
        yield from _told(told)


def _told(told: Told) -> Iterator[str]:
    violation = told.violation
    yield f"{violation.invariant} {violation.entity}: {violation.what}"
    for event in told.around:
        mark = ">" if event is violation.event else " "
        when = event.when.isoformat() if event.when is not None else "-"
        yield f"  {mark} {when} {name_of(event)} {_text(event)[:LINE_LENGTH_MAX]}"


def _measured(found: Findings) -> str:
    return ", ".join(f"{name} {seconds:.3f} s" for name, seconds in found.measured.items())


def _text(event: Event) -> str:
    return line(event).decode().strip()


def sentence(invariant: str) -> str:
    """What an invariant says."""
    return (INVARIANTS[invariant].__doc__ or "").strip()


# For programs -------------------------------------------------------------------------------------


def _as_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.outcome.value,
        "events": verdict.events,
        "missing": [*verdict.missing],
        "invariants": [
            {
                "name": found.invariant,
                "what": sentence(found.invariant),
                "cases": found.checked,
                "violations": len(found.violations),
                "measured": {**found.measured},
            }
            for found in verdict.findings
        ],
        "coverage": {**verdict.coverage},
        "violations": [
            {
                "invariant": told.violation.invariant,
                "entity": told.violation.entity,
                "what": told.violation.what,
                "around": [json.loads(line(event)) for event in told.around],
            }
            for told in verdict.told
        ],
    }


def main() -> None:
    try:
        app(prog_name="python -m proof.checker")
    except InvalidHistory as error:
        typer.echo(f"This is no history: {error}", err=True)
        sys.exit(WRONG_USAGE)


if __name__ == "__main__":
    main()
