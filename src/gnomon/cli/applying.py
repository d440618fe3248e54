"""`gnomon apply` and `gnomon export`: the jobs of a server as a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.progress import track

from gnomon.cli.job_options import read_yaml
from gnomon.cli.planning import MARK, Action, Manifest, Step, manifest_of, perform, plan_of
from gnomon.cli.shapes import current_shape, form_of
from gnomon.cli.showing import Output, show_plain
from gnomon.cli.talking import Talk, Yes, confirm, talks
from gnomon.cli.terminal import Screen, json_text, printable, say

_SIGNS = {Action.CREATE: "+", Action.CHANGE: "~", Action.PRUNE: "-", Action.KEEP: "="}

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")]


@talks
def apply(
    talk: Talk,
    file: Annotated[str, typer.Option("--file", "-f", metavar="FILE", help="YAML or JSON; - is stdin.")],
    yes: Yes = False,
    dry_run: DryRun = False,
    adopt: Annotated[bool, typer.Option("--adopt", help="Take over jobs of these names.")] = False,
    prune: Annotated[bool, typer.Option(help="Delete what is no longer in the file.")] = True,
) -> None:
    """Sync the server's jobs with a file: shows the plan, asks, applies it.

    The plan names each field that changes, and the fire times that come and go.

    The file has an `owner` and `jobs`. Only what was applied under that owner is ever deleted.

    Examples:
    ```
    gnomon apply -f jobs.yaml --dry-run
    gnomon apply -f jobs.yaml --yes    # in a pipeline
    ```
    """
    manifest = manifest_of(read_yaml(file, field="--file"))
    carry_out(talk, manifest, adopt=adopt, prune=prune, dry_run=dry_run, yes=yes)


@talks
def export(
    talk: Talk,
    owner: Annotated[str, typer.Option(help="Under which owner to apply the file later.")] = "export",
    tag: Annotated[str | None, typer.Option(help="Only jobs with this tag.")] = None,
) -> None:
    """Print the jobs that are active or paused as a file for `gnomon apply`.

    Examples:
    ```
    gnomon export --owner shop > jobs.yaml
    ```
    """
    jobs = list(talk.server.pages("/v1/jobs", "jobs", limit=None))
    names = {job["job_id"]: job["name"] for job in jobs}
    chosen = [
        form_of(_exported(job, names), name=job["name"])
        for job in sorted(jobs, key=lambda job: str(job["name"]))
        if job["status"] in ("ACTIVE", "PAUSED") and (tag is None or tag in job["tags"])
    ]
    output = Output.YAML if talk.output is Output.TABLE else talk.output
    show_plain({"owner": owner, "jobs": chosen}, output)


def carry_out(talk: Talk, manifest: Manifest, *, adopt: bool, prune: bool, dry_run: bool, yes: bool) -> None:
    with talk.working("comparing"):
        steps = plan_of(talk.server, manifest, adopt=adopt, prune=prune)
    _show(talk, steps)
    todo = [step for step in steps if step.action is not Action.KEEP]
    if dry_run or not todo:
        return
    confirm("Apply this plan?", yes=yes)
    console = Screen(stderr=True)
    for step in track(todo, "applying", console=console, disable=not console.is_terminal):
        perform(talk.server, step)
    say(f"Done: {len(todo)} change(s).", err=True)


def _show(talk: Talk, steps: Sequence[Step]) -> None:
    if talk.output is not Output.TABLE:
        show_plain([step.shown() for step in steps], talk.output)
        return
    for step in steps:
        if step.action is Action.KEEP:
            continue
        say(f"{_SIGNS[step.action]} {printable(step.name)}")
        for field, (before, after) in step.changes.items():
            for change in changes_between(before, after, field):
                say(printable(f"    {change}"))
        for sign, fires in (("-", step.fires_removed), ("+", step.fires_added)):
            for at in fires:
                say(printable(f"    {sign} fires {at}"))
    counts = Counter(step.action for step in steps)
    say(", ".join(f"{counts[action]} to {action}" for action in Action) + ".")


def changes_between(before: Any, after: Any, path: str) -> Iterator[str]:
    """Field by field, as deep as both are objects: `payload.url: "a" → "b"`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                yield from changes_between(before.get(name), after.get(name), f"{path}.{name}")
    else:
        old, new = ("nothing" if side is None else json_text(side, indent=None) for side in (before, after))
        yield f"{path}: {old} → {new}"


def _exported(job: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    shape = current_shape(job, names)
    shape["tags"] = [tag for tag in shape["tags"] if not tag.startswith(MARK)]
    if job["schedule"]["type"] == "delayed":  # The delay began when it was made.
        schedule = {**shape["schedule"], "type": "once", "run_at": job["schedule"]["run_at"]}
        shape["schedule"] = {word: value for word, value in schedule.items() if word != "delay_seconds"}
    return shape
