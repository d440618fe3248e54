"""`gnomon apply` and `gnomon export`: the jobs, workflows and calendars of a server as a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.progress import track

from gnomon.cli.files.job_options import AllowUnknownKind, read_yaml
from gnomon.cli.files.plan import MARK, Manifest, manifest_of, perform, plan_of
from gnomon.cli.files.shapes import current_shape, form_of
from gnomon.cli.files.steps import Action, PlanStep
from gnomon.cli.files.workflow_plan import definition_of
from gnomon.cli.output.tables import Output, show_plain
from gnomon.cli.output.terminal import Screen, json_text, printable, say
from gnomon.cli.session.session import Session, Yes, confirm, path_of, with_session
from gnomon.errors import GnomonError

_SIGNS = {Action.CREATE: "+", Action.CHANGE: "~", Action.PRUNE: "-", Action.KEEP: "="}

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")]


@with_session
def apply(
    session: Session,
    file: Annotated[str, typer.Option("--file", "-f", metavar="FILE", help="YAML or JSON; - is stdin.")],
    yes: Yes = False,
    dry_run: DryRun = False,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over jobs and workflows of these names.")
    ] = False,
    prune: Annotated[
        bool, typer.Option(help="Delete jobs and workflows that are no longer in the file.")
    ] = True,
    allow_unknown_kind: AllowUnknownKind = False,
) -> None:
    """Sync the server's jobs, workflows and calendars with a file: shows the plan, asks, applies it.

    The plan names each field that changes, and the fire times that come and go.

    The file has an `owner`, and `jobs`, `workflows` and `calendars`. Only jobs and workflows that were
    applied under that owner are ever deleted; calendars are not.

    Examples:
    ```
    gnomon apply -f jobs.yaml --dry-run
    gnomon apply -f jobs.yaml --yes    # in a pipeline
    ```
    """
    manifest = manifest_of(read_yaml(file, field="--file"))
    if allow_unknown_kind:
        manifest = manifest.allowing_unknown_kinds()
    carry_out(session, manifest, adopt=adopt, prune=prune, dry_run=dry_run, yes=yes)


@with_session
def export(
    session: Session,
    owner: Annotated[str, typer.Option(help="Under which owner to apply the file later.")] = "export",
    tag: Annotated[
        str | None, typer.Option(help="Only jobs and workflows with this tag, and the calendars they name.")
    ] = None,
) -> None:
    """Print calendars, and the jobs and workflows that are active or paused, as a file for `gnomon apply`.

    Examples:
    ```
    gnomon export --owner shop > jobs.yaml
    ```
    """
    jobs = list(session.server.pages("/v1/jobs", "jobs", limit=None))
    dags = list(session.server.pages("/v1/dags", "dags", limit=None))
    names = {job["job_id"]: job["name"] for job in jobs} | {dag["dag_id"]: dag["name"] for dag in dags}
    chosen, workflows = _chosen(jobs, tag), _chosen(dags, tag)
    named = {one["schedule"].get("calendar") for one in (*chosen, *workflows)}
    document: dict[str, Any] = {"owner": owner}
    if calendars := _calendars(session, None if tag is None else named):
        document["calendars"] = calendars
    if workflows:
        document["workflows"] = [_without_marks(definition_of(session.server, dag)) for dag in workflows]
    document["jobs"] = [form_of(_exported(job, names), name=job["name"]) for job in chosen]
    output = Output.YAML if session.output is Output.TABLE else session.output
    show_plain(document, output)


def _chosen(found: list[dict[str, Any]], tag: str | None) -> list[dict[str, Any]]:
    live = [one for one in found if one["status"] in ("ACTIVE", "PAUSED")]
    fitting = [one for one in live if tag is None or tag in one["tags"]]
    return sorted(fitting, key=lambda one: str(one["name"]))


def _calendars(session: Session, named: set[str | None] | None) -> list[dict[str, Any]]:
    """Those of these names, or all of them."""
    known = [one["name"] for one in session.server.pages("/v1/calendars", "calendars", limit=None)]
    wanted = [name for name in known if named is None or name in named]
    kept = [session.server.get(path_of("calendars", name)) for name in wanted]
    return [{"name": one["name"], "dates": one["dates"]} for one in kept]


def _without_marks(definition: dict[str, Any]) -> dict[str, Any]:
    """Whose it was is not said, as for jobs."""
    tags = [tag for tag in definition.get("tags") or [] if not tag.startswith(MARK)]
    plain = {word: value for word, value in definition.items() if word != "tags"}
    return plain | ({"tags": tags} if tags else {})


def carry_out(
    session: Session, manifest: Manifest, *, adopt: bool, prune: bool, dry_run: bool, yes: bool
) -> None:
    with session.working("comparing"):
        steps = plan_of(session.server, manifest, adopt=adopt, prune=prune)
    _show(session, steps)
    todo = [step for step in steps if step.action is not Action.KEEP]
    if dry_run or not todo:
        return
    confirm("Apply this plan?", yes=yes)
    console = Screen(stderr=True)
    for done, step in enumerate(track(todo, "applying", console=console, disable=not console.is_terminal)):
        try:
            perform(session.server, step)
        except GnomonError as error:
            error.add_note(f"({printable(step.title)}; {done} of {len(todo)} changes were made before it)")
            raise
    say(f"Done: {len(todo)} change(s).", err=True)


def _show(session: Session, steps: Sequence[PlanStep]) -> None:
    if session.output is not Output.TABLE:
        show_plain([step.shown() for step in steps], session.output)
        return
    for step in steps:
        if step.action is Action.KEEP:
            continue
        say(f"{_SIGNS[step.action]} {printable(step.title)}")
        for field, (before, after) in step.changes.items():
            for change in changes_between(before, after, field):
                say(printable(f"    {change}"))
        for sign, days in (("-", step.dates_removed), ("+", step.dates_added)):
            for day in days:
                say(printable(f"    {sign} excludes {day}"))
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
