"""A workflow while its function writes it down: the tasks so far, and what each waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gnomon.app.jobs.declaration import choice
from gnomon.app.workflows.promises import Promised, Question, config_value, result_of, written
from gnomon.core.values.document import JSON
from gnomon.core.workflows.trigger_rules import TriggerRule
from gnomon.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What can be said of a task beside what it does."""

    name: str | None = None
    after: Any = ()  # A promise, or several.
    trigger_rule: str | None = None
    when: Any = ()  # A question, or several that must all be answered with yes.
    over: Any = None  # A promise of a list, or a list.
    limit: int | None = None

    def conditions(self) -> list[dict[str, Any]]:
        if isinstance(self.when, Promised):
            raise InvalidInput("when", "what shall it be? Compare it: promise == value, promise.exists().")
        asked = [self.when] if isinstance(self.when, Question) else list(self.when)
        for one in asked:
            if not isinstance(one, Question):
                raise InvalidInput("when", f"{one!r} is not a comparison of a promise, such as raw > 0.")
        return [question.document() for question in asked]

    def earlier(self) -> list[Promised]:
        return [self.after] if isinstance(self.after, Promised) else list(self.after)


@dataclass(slots=True, eq=False)
class Sketch:
    config: dict[str, JSON]
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)  # The last one that each name was given.

    def add(self, usual_name: str, work: Mapping[str, Any], options: TaskOptions) -> Promised:
        """Write down a task. Its name is the one that was chosen, else the usual one, with a number."""
        name = self._free(usual_name) if options.name is None else options.name
        if name in self.tasks:
            raise InvalidInput("name", f"there is a task {name!r} already; tasks have names of their own.")
        needed: list[str] = []

        def meet(promised: Promised) -> None:
            task = self._task_of(promised)
            if task is not None:
                needed.append(task)

        described = {**work, **self._options(name, options)}
        self.tasks[name] = {"name": name, **written(described, meet, field=f"tasks.{name}"), "depends_on": []}
        self._depend(name, needed)
        self.wait(name, options.earlier())
        return result_of(name, self)

    def wait(self, task: str, others: Iterable[Promised]) -> None:
        self._depend(task, [self._earlier(other) for other in others])

    def _depend(self, task: str, others: Iterable[str]) -> None:
        waits_for = self.tasks[task]["depends_on"]
        waits_for[:] = dict.fromkeys([*waits_for, *others])

    def _earlier(self, promised: Promised) -> str:
        if not isinstance(promised, Promised):
            raise InvalidInput("after", f"{promised!r} is not what a job of this workflow returned.")
        task = self._task_of(promised)
        if task is None:
            raise InvalidInput("after", f"{promised.text} is there from the beginning.")
        return task

    def _task_of(self, promised: Promised) -> str | None:
        if promised.owner is not self or DRAWING.get() is not self:
            raise InvalidInput(promised.text, "is a promise of another workflow; each runs by itself.")
        return promised.reference.task

    def _options(self, name: str, options: TaskOptions) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if options.trigger_rule is not None:
            said["trigger_rule"] = choice(TriggerRule, options.trigger_rule, field="trigger_rule").value
        if conditions := options.conditions():
            said["condition"] = conditions
        if options.over is not None:
            said["fan_out"] = {"over": self._items(name, options.over)}
            if options.limit is not None:
                said["fan_out"]["limit"] = options.limit
        elif options.limit is not None:
            raise InvalidInput("limit", "is how many items there may be; say `over` what.")
        return said

    def _items(self, name: str, over: Any) -> Promised:
        """Items that are known already are part of the configuration, so that a run may bring others."""
        if isinstance(over, Promised):
            return over
        if isinstance(over, str | bytes | Mapping):
            raise InvalidInput("over", f"{over!r} is not a list.")
        if name in self.config:
            raise InvalidInput(
                "over", f"the configuration has a key {name!r}, where the items would be; rename the task."
            )
        self.config[name] = written(list(over), _refuse_inside, field="over")
        return config_value(name, self)

    def _free(self, name: str) -> str:
        found = name
        while found in self.tasks:
            self._numbers[name] = self._numbers.get(name, 1) + 1
            found = f"{name}_{self._numbers[name]}"
        return found


DRAWING: ContextVar[Sketch | None] = ContextVar("DRAWING", default=None)


def drawing(what: str) -> Sketch:
    """The workflow whose function is being called. Raises InvalidInput if there is none."""
    sketch = DRAWING.get()
    if sketch is None:
        raise InvalidInput(what, "belongs into a function with @app.dag, which describes a workflow.")
    return sketch


def _refuse_inside(promised: Promised) -> None:
    raise InvalidInput(
        "over", f"{promised.text} is in a list of items that must be known; give a promise of the whole list."
    )
