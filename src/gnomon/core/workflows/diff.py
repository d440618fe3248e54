"""What changed between two revisions of a workflow, as somebody wrote them down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnomon.core.values.document import JSON

# Other names of the same field, and fields in which the order says nothing.
_SAME = {"dependencies": "depends_on", "retry_config": "retry_policy"}
_SETS = frozenset({"depends_on", "capabilities", "tags"})


@dataclass(frozen=True, slots=True)
class FieldDiff:
    """None on a side where the field is not said."""

    before: JSON
    after: JSON


@dataclass(frozen=True, slots=True)
class DagDiff:
    """`fields` are those of the workflow; `changed` tells which fields of tasks in both differ."""

    fields: Mapping[str, FieldDiff]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: Mapping[str, Mapping[str, FieldDiff]]

    @property
    def is_empty(self) -> bool:
        return not (self.fields or self.added or self.removed or self.changed)


def diff(before: JSON, after: JSON) -> DagDiff:
    """Of two definitions that are kept, so they are fit. Tasks are the same if their names are."""
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    old, new = _tasks(before), _tasks(after)
    both = {name: _fields(old[name], new[name]) for name in new if name in old}
    return DagDiff(
        fields=_fields(
            *({key: value for key, value in one.items() if key != "tasks"} for one in (before, after))
        ),
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed={name: fields for name, fields in both.items() if fields},
    )


def _tasks(definition: Mapping[str, JSON]) -> dict[str, dict[str, JSON]]:
    tasks = definition["tasks"]
    assert isinstance(tasks, list)
    return {str(task["name"]): task for task in tasks if isinstance(task, dict)}


def _fields(before: Mapping[str, JSON], after: Mapping[str, JSON]) -> dict[str, FieldDiff]:
    old, new = _named_alike(before), _named_alike(after)
    return {
        name: FieldDiff(old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }


def _named_alike(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """What is said, by one name. To say nothing of a list and to give an empty one is the same."""
    named = {_SAME.get(name, name): value for name, value in fields.items()}
    for name in _SETS & named.keys():
        value = named[name]
        if isinstance(value, list):
            named[name] = sorted(value, key=str) or None
    return {name: value for name, value in named.items() if value is not None}
