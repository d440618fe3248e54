"""What it takes to make the jobs of a server those of a file: a plan that can be read before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any

from gnomon.cli.shapes import Shape, current_shape, difference, patch_of, wanted_shape
from gnomon.cli.talking import path_of
from gnomon.client.remote.server import Server
from gnomon.core.document import check_name
from gnomon.errors import InvalidDependency, InvalidInput

FIRES = 5  # Of each job that are compared.
MARK = "applied:"  # Begins the tag of a job that belongs to a file.
_OVER = ("CANCELLED", "DELETED")


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    PRUNE = "prune"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A file of jobs. What it owns carries its mark; nothing else is ever pruned."""

    owner: str
    forms: Sequence[Mapping[str, Any]]

    @property
    def mark(self) -> str:
        return MARK + self.owner


@dataclass(frozen=True, slots=True)
class Step:
    """`body` is what is sent; `job` is what the server has. Fires are those that come or go."""

    action: Action
    name: str
    body: dict[str, Any] = field(default_factory=dict)
    job: Mapping[str, Any] | None = None
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    fires_added: Sequence[str] = ()
    fires_removed: Sequence[str] = ()

    def shown(self) -> dict[str, Any]:
        changes = {name: {"before": before, "after": after} for name, (before, after) in self.changes.items()}
        return {
            "action": self.action.value,
            "name": self.name,
            "changes": changes,
            "fires_added": list(self.fires_added),
            "fires_removed": list(self.fires_removed),
        }


def manifest_of(document: Any) -> Manifest:
    """Raises InvalidInput."""
    if not isinstance(document, dict) or not isinstance(document.get("jobs"), list):
        raise InvalidInput("file", "must hold `owner`, a name, and `jobs`, a list.")
    for word in document.keys() - {"owner", "jobs"}:
        raise InvalidInput(str(word), "is unknown; a file holds `owner` and `jobs`.")
    owner, forms = document.get("owner"), document["jobs"]
    check_name(owner, field="owner", length_max=200)
    names = set()
    for number, form in enumerate(forms):
        if not isinstance(form, dict) or "name" not in form:
            raise InvalidInput(f"jobs[{number}]", "must be an object with a `name`.")
        if form["name"] in names:
            raise InvalidInput(f"jobs[{number}].name", f"{form['name']!r} is there twice.")
        names.add(form["name"])
    return Manifest(str(owner), _in_order(forms))


def plan_of(server: Server, manifest: Manifest, *, adopt: bool, prune: bool) -> list[Step]:
    """Looks, and changes nothing. Raises InvalidInput for a job that belongs to somebody else."""
    jobs = [job for job in server.pages("/v1/jobs", "jobs", limit=None) if job["status"] not in _OVER]
    by_name = {job["name"]: job for job in jobs}
    names = {job["job_id"]: job["name"] for job in jobs}
    steps = []
    for form in manifest.forms:
        marked = {**form, "tags": [*{*(form.get("tags") or []), manifest.mark}]}
        wanted = _wanted(marked)
        job = by_name.get(form["name"])
        if job is None:
            steps.append(_creation(server, marked, wanted))
            continue
        if manifest.mark not in job["tags"] and not adopt:
            raise InvalidInput(
                "jobs",
                f"{form['name']!r} exists and is not of {manifest.owner!r}; say --adopt to take it over.",
            )
        steps.append(_change(server, job, current_shape(job, names), wanted))
    if prune:
        kept = {form["name"] for form in manifest.forms}
        owned = [job for job in jobs if manifest.mark in job["tags"] and job["name"] not in kept]
        steps += [_pruning(server, job) for job in owned]
    return steps


def perform(server: Server, step: Step) -> None:
    """Only if the job is still as the plan saw it."""
    match step:
        case Step(Action.CREATE):
            server.send("POST", "/v1/jobs", step.body)
        case Step(Action.CHANGE, job=Mapping() as job):
            server.send("PUT", path_of("jobs", job["job_id"]), step.body | {"version": job["version"]})
        case Step(Action.PRUNE, job=Mapping() as job):
            server.delete(path_of("jobs", job["job_id"]), version=job["version"])
        case _:
            pass


def _wanted(form: Mapping[str, Any]) -> Shape:
    try:
        return wanted_shape(form)
    except InvalidInput as error:
        error.add_note(f"(in the job {form['name']!r})")
        raise


def _creation(server: Server, form: dict[str, Any], wanted: Shape) -> Step:
    fires = _fires_of(server, form["name"], wanted)
    return Step(Action.CREATE, form["name"], body=form, fires_added=fires)


def _change(server: Server, job: Mapping[str, Any], current: Shape, wanted: Shape) -> Step:
    name, changes = job["name"], difference(current, wanted)
    if not changes:
        return Step(Action.KEEP, name, job=job)
    patch = patch_of(changes)
    if "kind" in changes or "payload" in changes:
        patch |= {"kind": wanted["kind"], "payload": wanted["payload"]}
    before, after = [], []
    if "schedule" in changes:
        before, after = _next_fires(server, job), _fires_of(server, name, wanted)
    ends = [fires[-1] for fires in (before, after) if len(fires) == FIRES]
    until = min(ends) if ends else None  # Beyond it, one of them was not asked.
    removed = [at for at in before if at not in after and (until is None or at <= until)]
    added = [at for at in after if at not in before and (until is None or at <= until)]
    return Step(Action.CHANGE, name, patch, job, changes, added, removed)


def _pruning(server: Server, job: Mapping[str, Any]) -> Step:
    return Step(Action.PRUNE, job["name"], job=job, fires_removed=_next_fires(server, job))


def _next_fires(server: Server, job: Mapping[str, Any]) -> list[str]:
    if job["status"] != "ACTIVE":
        return []
    return _times(server.get(path_of("jobs", job["job_id"], "preview"), limit=FIRES))


def _fires_of(server: Server, name: str, wanted: Shape) -> list[str]:
    if wanted["schedule"]["type"] == "manual":
        return []
    form = {"schedule": wanted["schedule"], "name": name, "limit": FIRES}
    return _times(server.post("/v1/schedules/preview", form))


def _times(answer: Mapping[str, Any]) -> list[str]:
    return [fire["nominal_time"] for fire in answer["fires"] if fire["skip"] is None]


def _in_order(forms: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Jobs after those that they wait for. Raises InvalidDependency for a circle."""
    by_name = {form["name"]: form for form in forms}
    waits = {
        name: [one for one in form.get("dependencies") or () if one in by_name]
        for name, form in by_name.items()
    }
    try:
        return [by_name[name] for name in TopologicalSorter(waits).static_order()]
    except CycleError as error:
        raise InvalidDependency(f"these wait for each other: {', '.join(error.args[1])}.") from None
