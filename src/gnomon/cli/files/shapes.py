"""A job as a file says it and as a server has it, in one shape, so that the two can be compared.

A file is read by the very code that the server reads requests with, so both see the same job in it. That code
brings a web framework along, which takes half a second to import: it is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnomon.core.jobs.job import Definition
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.core.time.schedule_document import to_document
from gnomon.core.values.instants import INSTANT_MIN, seconds_of
from gnomon.errors import InvalidInput

# Second words for what is said already.
_RETRY_TWICE = ("max_retries", "initial_delay_seconds")
_SCHEDULE_TWICE = ("expression", "next_run")
_PLAIN = (
    "kind", "payload", "timeout_seconds", "priority", "queue", "capabilities", "max_concurrent", "delivery",
    "tags",
)  # fmt: skip

Shape = dict[str, Any]


def check_has_work(form: Mapping[str, Any], where: str) -> None:
    """Raises InvalidInput for a form with nothing to run: a server would make a `dummy` of it."""
    if form.get("kind") is None and not form.get("payload"):
        raise InvalidInput("kind", f"is missing: say what shall run, {where}.")


def wanted_shape(form: Mapping[str, Any]) -> Shape:
    """What a form of a file comes to. Raises InvalidInput. Whether a time has passed, the server says."""
    from gnomon.api.forms.job_forms import NewJob, definition_of
    from gnomon.api.forms.reading import convert

    read = convert(dict(form), NewJob)
    shape = _defined(definition_of(read, None, now=INSTANT_MIN))
    return shape | {"tags": sorted(read.tags or []), "dependencies": sorted(read.dependencies or [])}


def current_shape(answer: Mapping[str, Any], names: Mapping[str, str]) -> Shape:
    """A job as the server tells it. `names` are those of jobs by their ids."""
    schedule = _without(answer["schedule"], _SCHEDULE_TWICE)
    return {name: answer[name] for name in _PLAIN} | {
        "schedule": {name: value for name, value in schedule.items() if value is not None},
        "retry_policy": _without(answer["retry_policy"], _RETRY_TWICE),
        "dependencies": sorted(names.get(id, id) for id in answer["dependencies"]),
    }


def difference(current: Shape, wanted: Shape) -> dict[str, tuple[Any, Any]]:
    """Field by field: before and after."""
    # Where a delay ends and an interval begins follows from when the job was made, unless somebody says it.
    told = {"delayed": "run_at", "interval": "anchor"}.get(current["schedule"]["type"])
    if told not in wanted["schedule"]:
        current = current | {"schedule": _without(current["schedule"], (str(told),))}
    return {name: (current[name], wanted[name]) for name in wanted if current[name] != wanted[name]}


def patch_of(changes: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """The body of a PUT that makes these changes. What a schedule no longer says has to be taken back."""
    patch = {name: after for name, (_, after) in changes.items()}
    if "schedule" in changes:
        before, after = changes["schedule"]
        is_same_type = before["type"] == after["type"]
        patch["schedule"] = dict.fromkeys(before) | after if is_same_type else after
    return patch


def form_of(shape: Shape, *, name: str) -> dict[str, Any]:
    """The shortest form that comes to this shape: what is as the default says is not said."""
    default = _defined(Definition(shape["kind"])) | {"tags": [], "dependencies": []}
    form: dict[str, Any] = {"name": name, "kind": shape["kind"]}
    usual = _without(to_document(Schedule(CronTiming("@daily"))), ("cron",))
    form |= {
        word: value
        for word, value in shape["schedule"].items()
        if word != "type" and usual.get(word) != value
    }
    for word in (*_PLAIN, "dependencies"):
        if shape[word] != default[word]:
            form[word] = shape[word]
    retry = {
        word: value for word, value in shape["retry_policy"].items() if default["retry_policy"][word] != value
    }
    return form | ({"retry_policy": retry} if retry else {})


def _defined(definition: Definition) -> Shape:
    from gnomon.api.forms.retry_forms import shown_retry

    return {
        "kind": definition.kind,
        "payload": definition.payload.value,
        "schedule": dict(to_document(definition.schedule)),
        "retry_policy": _without(shown_retry(definition.retry), _RETRY_TWICE),
        "timeout_seconds": None if definition.timeout is None else seconds_of(definition.timeout),
        "priority": definition.priority,
        "queue": definition.queue,
        "capabilities": sorted(definition.capabilities),
        "max_concurrent": definition.max_concurrent,
        "delivery": definition.delivery.value,
    }


def _without(fields: Mapping[str, Any], words: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in words}
