"""The tasks of a run as a table: a line a task, and a line an item of a fan-out."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gnomon.cli.output.tables import Columns, Output, show_many, text_of
from gnomon.cli.output.terminal import say

WIDE = 140  # From here on, there is room for the times.
_SHORT: Columns = {
    "TASK": "name",
    "STATUS": "status",
    "EXECUTION": "execution_id",
    "RESULT": "brought",
}
_ALL: Columns = {
    "TASK": "name",
    "STATUS": "status",
    "AFTER": lambda one: ", ".join(one["dependencies"]),
    "ATTEMPT": lambda one: one["attempt_number"] or None,
    "STARTED": "started_at",
    "ENDED": "completed_at",
    "EXECUTION": "execution_id",
    "RESULT": "brought",
}


def show_tasks(tasks: Sequence[Mapping[str, Any]]) -> None:
    """On a narrow terminal without the times: `-o json` has all."""
    is_narrow = sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE
    show_many(list(_rows(tasks)), _SHORT if is_narrow else _ALL, Output.TABLE)
    for task in tasks:
        more = len(task["execution_ids"]) - len(task["items"])
        if task["items"] and more:
            say(f"{task['name']}: {more} more items. Each is an execution: gnomon run list.")


def _rows(tasks: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        ids = task["execution_ids"]
        own = task["failed_execution_id"] or (ids[0] if len(ids) == 1 else None)
        yield {**task, "execution_id": own, "brought": _brought(task)}
        for item in task["items"]:
            yield {
                **item,
                "name": f"{task['name']}[{item['item']}]",
                "dependencies": [],
                "started_at": None,
                "completed_at": None,
                "brought": _brought(item),
            }


def _brought(one: Mapping[str, Any]) -> str:
    """Its error, or its result."""
    if one["error"] is not None:
        return f"{one['error']['kind']}: {one['error']['message']}"
    if one["result_is_left_out"]:
        return "(long: gnomon run show)"
    return "" if one["result"] is None else text_of(one["result"])
