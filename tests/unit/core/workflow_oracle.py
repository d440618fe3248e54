"""The state of a run, the slow way: from the facts alone, all tasks anew after each of them. No counters."""

from __future__ import annotations

from dataclasses import dataclass, field

from gnomon.core.runs.events import (
    Approve,
    Arrived,
    Cancel,
    Ended,
    Event,
    Expired,
    Fail,
    Pause,
    Reject,
    Rerun,
    RerunFailed,
    Resume,
    Retry,
    Skip,
    Started,
    Succeed,
)
from gnomon.core.values.document import Document
from gnomon.core.workflows.workflow import Approval, AwaitEvent, Plan

GOOD, BAD = {"COMPLETED"}, {"FAILED", "CANCELLED", "UPSTREAM_FAILED"}
ENDED = GOOD | BAD | {"SKIPPED"}


class Refused(Exception):
    pass


@dataclass
class Oracle:
    """`fate` is what the world or a person said about a task; the rest follows."""

    plan: Plan
    fate: dict[int, str] = field(default_factory=dict)
    results: dict[int, Document | None] = field(default_factory=dict)
    items: dict[int, dict[int, Ended]] = field(default_factory=dict)
    rounds: dict[int, int] = field(default_factory=dict)
    has_begun: bool = False
    is_paused: bool = False
    stopped: str | None = None
    now: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.look()

    # From scratch ------------------------------------------------------------------------------------

    def look(self) -> None:
        before, now = self.now, dict[int, str]()
        todo = list(range(len(self.plan.graph.names)))
        while todo:
            ready = [task for task in todo if all(parent in now for parent in self.plan.graph.parents[task])]
            for task in ready:
                now[task] = self.fate.get(task) or self.derived(task, now)
            todo = [task for task in todo if task not in now]
        for task, status in now.items():
            is_done_at_once = status == "COMPLETED" and task not in self.fate
            if before.get(task) != status and (status in ("RELEASED", "HELD") or is_done_at_once):
                self.rounds[task] = self.rounds.get(task, 0) + 1
        self.now = now

    def derived(self, task: int, now: dict[int, str]) -> str:
        parents = [now[parent] for parent in self.plan.graph.parents[task]]
        answer = self.ruled(self.plan.task(task).rule.value, parents) if self.has_begun else "WAITING"
        if answer != "RUN":
            return answer
        spec = self.plan.task(task)
        for condition in spec.conditions:
            found = self.result_of(condition.reference.task, now)
            if found is None or found.value != condition.value:
                return "SKIPPED"
        if spec.fan_out is not None:
            return self.fanned(task, now)
        return "HELD" if isinstance(spec.work, Approval | AwaitEvent) else "RELEASED"

    def fanned(self, task: int, now: dict[int, str]) -> str:
        fan_out = self.plan.task(task).fan_out
        assert fan_out is not None
        found = self.result_of(fan_out.over.task, now)
        if found is None or not isinstance(found.value, list) or len(found.value) > fan_out.items_max:
            return "HALTED" if self.strategy == "PAUSE" else "FAILED"
        if found.value:
            return "RELEASED"
        self.results[task] = Document("[]")
        return "COMPLETED"

    def result_of(self, name: str | None, now: dict[int, str]) -> Document | None:
        assert name is not None
        place = self.plan.graph.names.index(name)
        return self.results.get(place) if now[place] == "COMPLETED" else None

    def ruled(self, rule: str, parents: list[str]) -> str:
        all_ended = all(parent in ENDED for parent in parents)
        has_good, has_bad = any(p in GOOD for p in parents), any(p in BAD for p in parents)
        blocked = "SKIPPED" if self.strategy == "CONTINUE" else "UPSTREAM_FAILED"
        refused = blocked if has_bad else "SKIPPED"
        runs = {
            "all_success": all(parent in GOOD for parent in parents),
            "all_done": all_ended,
            "one_success": has_good,
            "one_failed": has_bad,
            "none_failed": all_ended and not has_bad,
        }[rule]
        if runs:
            return "RUN"
        if not all_ended:
            return "WAITING"
        return "SKIPPED" if rule == "one_failed" else refused

    @property
    def strategy(self) -> str:
        return self.plan.workflow.failure_strategy.value

    @property
    def run(self) -> str:
        states = list(self.now.values())
        if not all(state in ENDED for state in states):
            if not self.has_begun:
                return "PENDING"
            is_held = self.stopped is None and (self.is_paused or "HALTED" in states)
            return "PAUSED" if is_held else "RUNNING"
        if self.stopped == "CANCELLED" and "CANCELLED" in states:
            return "CANCELLED"
        if not {"FAILED", "CANCELLED"} & set(states):
            return "COMPLETED"
        is_partial = self.plan.workflow.allow_partial_completion and self.strategy != "FAIL_FAST"
        return "COMPLETED" if is_partial and "COMPLETED" in states else "FAILED"

    # Facts -------------------------------------------------------------------------------------------

    def take(self, *events: Event) -> None:
        """Raises Refused. Events of one call share a transaction: what is stopped in it, too, never began."""
        fresh: set[int] = set()
        for event in events:
            before = self.now
            self.fact(event, fresh)
            self.look()
            fresh |= {task for task, status in self.now.items() if status == "RELEASED" != before[task]}

    def fact(self, event: Event, fresh: set[int]) -> None:
        match event:
            case Started():
                self.has_begun = True
            case Ended():
                self.ended(event, fresh)
            case Arrived(task, round, data):
                if self.now[task] == "HELD" and self.rounds[task] == round:
                    self.end(task, "COMPLETED", data, fresh)
            case Expired(task, round):
                if self.now[task] == "HELD" and self.rounds[task] == round:
                    self.end(task, "FAILED", None, fresh)
            case _:
                self.act(event, fresh)

    def ended(self, event: Ended, fresh: set[int]) -> None:
        task = event.task
        if self.now[task] != "RELEASED" or self.rounds[task] != event.round:
            return
        if event.item is None:
            self.end(task, event.status.value, event.result, fresh)
            return
        items = self.items.setdefault(task, {})
        items[event.item] = event
        over = self.plan.task(task).fan_out
        assert over is not None
        everything = self.result_of(over.over.task, self.now)
        assert everything is not None
        assert isinstance(everything.value, list)
        if len(items) == len(everything.value):
            found = {end.status.value for end in items.values()}
            worst = next((bad for bad in ("FAILED", "CANCELLED") if bad in found), "COMPLETED")
            results = [end.result.value if end.result else None for _, end in sorted(items.items())]
            self.end(task, worst, Document.of(results, field="result"), fresh)
        elif event.status.value in BAD and self.strategy == "FAIL_FAST" and self.stopped is None:
            self.stop("FAILED", fresh)

    def end(self, task: int, status: str, result: Document | None, fresh: set[int]) -> None:
        self.items.pop(task, None)
        is_halted = status == "FAILED" and self.strategy == "PAUSE" and self.stopped is None
        self.fate[task] = "HALTED" if is_halted else status
        self.results[task] = result
        if status in BAD and self.strategy == "FAIL_FAST" and self.stopped is None:
            self.stop("FAILED", fresh)

    def stop(self, how: str, fresh: set[int]) -> None:
        for task, status in self.now.items():
            has_not_begun = status in ("WAITING", "HELD", "HALTED") or task in fresh
            if self.fate.get(task, "HALTED") == "HALTED" and has_not_begun:
                self.fate[task] = "CANCELLED"
        self.stopped, self.is_paused = how, False

    # Acts --------------------------------------------------------------------------------------------

    def act(self, event: Event, fresh: set[int]) -> None:
        run, is_over = self.run, self.run in ("COMPLETED", "FAILED", "CANCELLED")
        match event:
            case Cancel():
                self.may(not is_over or run == "CANCELLED")
                if self.stopped is None and not is_over:
                    self.stop("CANCELLED", fresh)
                return
            case _:
                self.may(run != "PENDING" and (is_over or self.stopped is None))
        match event:
            case Pause():
                self.may(not is_over)
                self.is_paused = True
            case Resume():
                self.may(not is_over and "HALTED" not in self.now.values())
                self.is_paused = False
            case Approve(task, by, note) | Reject(task, by, note):
                self.may(self.now[task] == "HELD" and isinstance(self.plan.task(task).work, Approval))
                status = "COMPLETED" if isinstance(event, Approve) else "FAILED"
                said = {"by": by, "note": note, "at": "2026-06-01T12:00:00.000000Z"}
                self.end(task, status, Document.of(said, field="result"), fresh)
            case _:
                self.repair(event)

    def repair(self, event: Event) -> None:
        broken = {"FAILED", "CANCELLED", "HALTED"}
        match event:
            case RerunFailed():
                tasks = {task for task, status in self.now.items() if status in broken}
                self.may(bool(tasks))
                self.forget(tasks)
            case Rerun(tasks):
                self.may(all(self.now[task] in ENDED | {"HALTED"} for task in tasks))
                self.forget(set(tasks))
            case Retry(task):
                self.may(self.now[task] in broken)
                if self.now[task] == "HALTED":
                    self.fate.pop(task, None)
                    self.now[task] = "WAITING"
                else:
                    self.forget({task})
            case Skip(task):
                self.settle(task, "SKIPPED", broken | {"WAITING", "HELD"}, None)
            case Succeed(task, result):
                self.settle(task, "COMPLETED", broken, result)
            case Fail(task):
                self.settle(task, "FAILED", {"HALTED"}, None)

    def settle(self, task: int, status: str, expected: set[str], result: Document | None) -> None:
        self.may(self.now[task] in expected)
        if self.now[task] in ENDED:
            self.forget({task})
        self.fate[task], self.results[task] = status, result

    def forget(self, roots: set[int]) -> None:
        """All that is after these, and they, had never been."""
        affected = set(roots)
        for _ in self.plan.graph.names:
            affected |= {t for t, parents in enumerate(self.plan.graph.parents) if affected & set(parents)}
        self.may(not any(self.now[task] in ("RELEASED", "HELD") for task in affected))
        for task in affected:
            self.fate.pop(task, None)
            self.results.pop(task, None)
            self.now[task] = "WAITING"
        self.stopped = None

    def may(self, is_allowed: bool) -> None:
        if not is_allowed:
            raise Refused
