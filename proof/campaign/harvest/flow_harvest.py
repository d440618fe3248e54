"""What the store wrote down about workflows and their runs, in the words of a history."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.core.workflows.dag import task_revision
from gnomon.store.databases.rows import definition_of
from proof.checker.history import events
from proof.checker.history.events import Event
from proof.simulator.recording.told import work_of

Facts = dict[str, Any]
Word = tuple[type[Event], Facts]
Revisions = Mapping[tuple[str, int], Any]


class FlowHarvest:
    def __init__(self, flows: list[Any], revisions: Revisions) -> None:
        self._flows = flows
        self._revisions = revisions
        self._runs: dict[str, list[str]] = {}  # By run, the names of its tasks.
        self._names: dict[tuple[str, int], list[str]] = {}  # By workflow and revision, too.
        self._tasks: dict[tuple[str, int], tuple[int, str]] = {}  # By what is run: revision and name.

    def is_run(self, run: str) -> bool:
        return run in self._runs

    def defined(self) -> Iterator[Word]:
        """What each workflow says, and what its tasks do."""
        for row in self._flows:
            dag, base, written = str(row["dag_id"]), row["base"], json.loads(row["definition"])
            self._names[dag, base] = [task["name"] for task in written["tasks"]]
            strategy, partial = written["failure_strategy"], written["allow_partial_completion"]
            yield events.DagNew, {"job": dag, "rev": base, "strategy": strategy, "partial": partial}
            for place, task in enumerate(written["tasks"]):
                self._tasks[dag, task_revision(base, place)] = (base, task["name"])
                yield events.DagEdge, _edge(dag, base, task)
                does = work_of(definition_of(self._revisions[dag, task_revision(base, place)]))
                of = {"job": f"{dag}/{task['name']}", "rev": base, "since": row["created_at"]}
                yield events.SchedSet, of | does

    def started(self, facts: Facts) -> Word:
        dag, base = facts["dag_id"], facts["base"]
        self._runs[facts["id"]] = self._names[dag, base]
        return events.DagStart, {"job": dag, "rev": base}

    def released(self, facts: Facts) -> Word:
        base, name = self._tasks[facts["job_id"], facts["revision"]]
        dag = facts["dag_run_id"]
        return events.DagRelease, {
            "job": f"{facts['job_id']}/{name}",
            "rev": base,
            "dag": dag,
            "node": self._runs[dag][facts["task"]],
            "round": facts["round"],
            "item": facts["item"],
        }

    def moved(self, facts: Facts) -> Word:
        dag = facts["dag_run_id"]
        return events.DagNode, {
            "dag": dag,
            "node": self._runs[dag][facts["task"]],
            "state": facts["status"],
            "round": facts["round"],
        }


def _edge(dag: str, base: int, task: Mapping[str, Any]) -> Facts:
    return {
        "job": dag,
        "rev": base,
        "node": task["name"],
        "parents": tuple(task["depends_on"]),
        "rule": task["trigger_rule"],
        "does": "fan_out" if "fan_out" in task else "run",
        "conditional": "condition" in task,
    }
