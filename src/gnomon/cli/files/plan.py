"""A plan: what it takes to make the jobs, workflows and calendars of a server those of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from gnomon.cli.files.calendar_plan import calendar_steps, dates_of
from gnomon.cli.files.fires import ClosedDates, come_and_go, fires_of, next_fires
from gnomon.cli.files.shapes import Shape, check_has_work, current_shape, difference, patch_of, wanted_shape
from gnomon.cli.files.steps import Action, Noun, PlanStep
from gnomon.cli.files.workflow_plan import runs_in, workflow_pruning, workflow_step
from gnomon.cli.session.session import path_of
from gnomon.client.remote.server import Server
from gnomon.core.values.document import check_name
from gnomon.errors import InvalidDependency, InvalidInput

MARK = "applied:"  # Begins the tag of a job or workflow that belongs to a file.
JOBS, WORKFLOWS, CALENDARS = SECTIONS = ("jobs", "workflows", "calendars")
ALLOWED = "allow_unknown_kind"
_OVER = ("CANCELLED", "DELETED")

Form = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file. What it owns carries its mark; nothing else is ever pruned. Calendars are owned by no file."""

    owner: str
    forms: Sequence[Form]
    workflows: Sequence[Form] = ()
    calendars: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        return MARK + self.owner

    def marked(self, form: Form) -> dict[str, Any]:
        """Raises InvalidInput."""
        tags = form.get("tags") or []
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise InvalidInput("tags", f"of {form['name']!r} must be a list of strings.")
        return {**form, "tags": sorted({*tags, self.mark})}

    def allowing_unknown_kinds(self) -> Manifest:
        def allowing(forms: Sequence[Form]) -> Sequence[Form]:
            return [{**form, ALLOWED: True} for form in forms]

        return replace(self, forms=allowing(self.forms), workflows=allowing(self.workflows))


def manifest_of(document: Any) -> Manifest:
    """Raises InvalidInput."""
    if not isinstance(document, dict) or not any(section in document for section in SECTIONS):
        raise InvalidInput("file", "must hold `owner`, a name, and `jobs`, `workflows` or `calendars`.")
    for word in document.keys() - {"owner", *SECTIONS}:
        raise InvalidInput(
            str(word), "is unknown; a file holds `owner`, `jobs`, `workflows` and `calendars`."
        )
    if document.get("owner") is None:
        raise InvalidInput("owner", "is missing: a name for what this file keeps, such as `owner: shop`.")
    check_name(document["owner"], field="owner", length_max=200)
    jobs, workflows, calendars = (_section(document, section) for section in SECTIONS)
    for place, form in enumerate(workflows):
        if form["name"] in {one["name"] for one in jobs}:
            raise InvalidInput(f"workflows[{place}].name", f"{form['name']!r} is the name of a job, too.")
    return Manifest(
        str(document["owner"]),
        _in_order(jobs, lambda form: form.get("dependencies") or ()),
        _in_order(workflows, runs_in),
        {form["name"]: dates_of(form, place=f"calendars[{at}]") for at, form in enumerate(calendars)},
    )


def plan_of(server: Server, manifest: Manifest, *, adopt: bool, prune: bool) -> list[PlanStep]:
    """Looks, and changes nothing. Raises InvalidInput for a job or workflow that belongs to another file."""
    jobs, dags = _live(server, "jobs"), _live(server, "dags")
    names = {one["job_id"]: one["name"] for one in jobs} | {one["dag_id"]: one["name"] for one in dags}
    closed = manifest.calendars
    steps = calendar_steps(server, closed)
    by_name = {dag["name"]: dag for dag in dags}
    for form in manifest.workflows:
        dag = _own(by_name, form, manifest, adopt=adopt, section=WORKFLOWS)
        steps.append(workflow_step(server, manifest.marked(form), dag, closed))
    by_name = {job["name"]: job for job in jobs}
    for form in manifest.forms:
        marked = manifest.marked(form)
        wanted = _wanted(marked)
        job = _own(by_name, form, manifest, adopt=adopt, section=JOBS)
        if job is None:
            fires = fires_of(server, form["name"], wanted["schedule"], closed)
            steps.append(PlanStep(Action.CREATE, form["name"], body=marked, fires_added=fires.first))
            continue
        step = _change(server, job, current_shape(job, names), wanted, closed)
        if step.action is Action.CHANGE and ALLOWED in form:
            step = replace(step, body=step.body | {ALLOWED: form[ALLOWED]})
        steps.append(step)
    if prune:
        steps += [_pruning(server, job) for job in _orphans(jobs, manifest.forms, manifest.mark)]
        steps += [workflow_pruning(server, dag) for dag in _orphans(dags, manifest.workflows, manifest.mark)]
    return steps


def perform(server: Server, step: PlanStep) -> None:
    """Only if what the server has is still as the plan saw it."""
    match step:
        case PlanStep(Action.CREATE, noun=Noun.JOB):
            server.send("POST", "/v1/jobs", step.body)
        case PlanStep(Action.CREATE, noun=Noun.WORKFLOW):
            server.send("POST", "/v1/dags", step.body)
        case PlanStep(Action.CREATE | Action.CHANGE, noun=Noun.CALENDAR):
            server.send("PUT", path_of("calendars", step.name), step.body)
        case PlanStep(Action.CHANGE, kept=Mapping() as job, noun=Noun.JOB):
            server.send("PUT", path_of("jobs", job["job_id"]), step.body | {"version": job["version"]})
        case PlanStep(Action.CHANGE, kept=Mapping() as dag, noun=Noun.WORKFLOW):
            server.send("PUT", path_of("dags", dag["dag_id"]), step.body | {"version": dag["version"]})
        case PlanStep(Action.PRUNE, kept=Mapping() as job, noun=Noun.JOB):
            server.delete(path_of("jobs", job["job_id"]), version=job["version"])
        case PlanStep(Action.PRUNE, kept=Mapping() as dag, noun=Noun.WORKFLOW):
            server.delete(path_of("dags", dag["dag_id"]), version=dag["version"])
        case _:
            pass


def _live(server: Server, noun: str) -> list[dict[str, Any]]:
    return [one for one in server.pages(f"/v1/{noun}", noun, limit=None) if one["status"] not in _OVER]


def _own(
    by_name: Mapping[str, Any], form: Form, manifest: Manifest, *, adopt: bool, section: str
) -> dict[str, Any] | None:
    """What the server has of this name. Raises InvalidInput if it belongs to another file."""
    found: dict[str, Any] | None = by_name.get(form["name"])
    if found is not None and manifest.mark not in found["tags"] and not adopt:
        reason = f"{form['name']!r} exists and is not of {manifest.owner!r}; say --adopt to take it over."
        raise InvalidInput(section, reason)
    return found


def _orphans(found: Sequence[dict[str, Any]], forms: Sequence[Form], mark: str) -> list[dict[str, Any]]:
    kept = {form["name"] for form in forms}
    return [one for one in found if mark in one["tags"] and one["name"] not in kept]


def _wanted(form: Form) -> Shape:
    try:
        shape = wanted_shape(form)
        check_has_work(form, "with `kind` and `payload`")
    except InvalidInput as error:
        error.add_note(f"(in the job {form['name']!r})")
        raise
    return shape


def _change(
    server: Server, job: Mapping[str, Any], current: Shape, wanted: Shape, closed: ClosedDates
) -> PlanStep:
    name, changes = job["name"], difference(current, wanted)
    if not changes:
        return PlanStep(Action.KEEP, name, kept=job)
    patch = patch_of(changes)
    if "kind" in changes or "payload" in changes:
        patch |= {"kind": wanted["kind"], "payload": wanted["payload"]}
    added, removed = list[str](), list[str]()
    if "schedule" in changes:
        fires = fires_of(server, name, wanted["schedule"], closed)
        added, removed = come_and_go(next_fires(server, job, job["job_id"]), fires)
    return PlanStep(Action.CHANGE, name, patch, job, changes, added, removed)


def _pruning(server: Server, job: Mapping[str, Any]) -> PlanStep:
    fires = next_fires(server, job, job["job_id"])
    return PlanStep(Action.PRUNE, job["name"], kept=job, fires_removed=fires.first)


def _section(document: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    forms = document.get(section, [])
    if not isinstance(forms, list):
        raise InvalidInput(section, "must be a list.")
    names = set()
    for number, form in enumerate(forms):
        if not isinstance(form, dict) or "name" not in form:
            raise InvalidInput(f"{section}[{number}]", "must be an object with a `name`.")
        check_name(form["name"], field=f"{section}[{number}].name")
        if form["name"] in names:
            raise InvalidInput(f"{section}[{number}].name", f"{form['name']!r} is there twice.")
        names.add(form["name"])
    return forms


def _in_order(forms: Iterable[Form], needs: Callable[[Form], Iterable[str]]) -> list[Form]:
    """Each after those that it needs. Raises InvalidDependency for a circle."""
    by_name = {form["name"]: form for form in forms}
    waits = {name: [one for one in needs(form) if one in by_name] for name, form in by_name.items()}
    try:
        return [by_name[name] for name in TopologicalSorter(waits).static_order()]
    except CycleError as error:
        raise InvalidDependency(f"these wait for each other: {', '.join(error.args[1])}.") from None
