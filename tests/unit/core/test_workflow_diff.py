"""What a person sees of the change from one revision to another."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.document import JSON
from gnomon.core.workflows.diff import FieldDiff, diff

ETL: dict[str, Any] = {
    "name": "etl",
    "cron_expression": "0 2 * * *",
    "tasks": [
        {"name": "extract", "kind": "sql", "payload": {"from": "a"}},
        {"name": "load", "kind": "sql", "dependencies": ["extract", "other"]},
        {"name": "other", "kind": "sql"},
    ],
}


def test_tasks_that_came_went_and_changed_are_told_apart() -> None:
    after: JSON = {
        "name": "etl",
        "cron_expression": "0 3 * * *",
        "failure_strategy": "PAUSE",
        "tasks": [
            {"name": "check", "approval": {}},
            {"name": "load", "kind": "sql", "depends_on": ["other", "extract"], "priority": 7},
            {"name": "extract", "kind": "sql", "payload": {"from": "b"}},
        ],
    }
    found = diff(ETL, after)

    assert (found.added, found.removed) == (("check",), ("other",))
    assert found.fields == {
        "cron_expression": FieldDiff("0 2 * * *", "0 3 * * *"),
        "failure_strategy": FieldDiff(None, "PAUSE"),
    }
    assert found.changed == {
        "load": {"priority": FieldDiff(None, 7)},
        "extract": {"payload": FieldDiff({"from": "a"}, {"from": "b"})},
    }


def test_what_means_the_same_is_no_change() -> None:
    same = {**ETL, "tags": [], "tasks": [{**task, "depends_on": []} for task in ETL["tasks"][:1]]}

    assert diff({**ETL, "tasks": ETL["tasks"][:1]}, same).is_empty


NAMES = st.sampled_from("abcde")
TASKS = st.dictionaries(
    NAMES, st.dictionaries(st.sampled_from(["kind", "payload", "queue"]), st.integers(0, 2))
)


@given(TASKS, TASKS)
def test_a_change_and_its_way_back_are_mirrors(
    old: dict[str, dict[str, int]], new: dict[str, dict[str, int]]
) -> None:
    before, after = (
        {"name": "x", "tasks": [{"name": name, **task} for name, task in tasks.items()]}
        for tasks in (old, new)
    )
    there, back = diff(before, after), diff(after, before)  # type: ignore[arg-type]

    assert (there.added, there.is_empty) == (back.removed, old == new)
    assert set(there.changed) == {name for name in old.keys() & new.keys() if old[name] != new[name]}
    for name, fields in back.changed.items():
        assert {key: FieldDiff(one.after, one.before) for key, one in fields.items()} == there.changed[name]
