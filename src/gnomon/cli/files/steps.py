"""A plan, step by step: what a file makes, changes, deletes or keeps on a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    PRUNE = "prune"
    KEEP = "keep"


class Noun(StrEnum):
    """In the order in which they are made: workflows and jobs name calendars, jobs may wait for workflows."""

    CALENDAR = "calendar"
    WORKFLOW = "workflow"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """`body` is what is sent; `kept` is what the server has. Fires and dates are those that come or go."""

    action: Action
    name: str
    body: dict[str, Any] = field(default_factory=dict)
    kept: Mapping[str, Any] | None = None
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    fires_added: Sequence[str] = ()
    fires_removed: Sequence[str] = ()
    noun: Noun = Noun.JOB
    dates_added: Sequence[str] = ()
    dates_removed: Sequence[str] = ()

    @property
    def title(self) -> str:
        """For a person. What is no job says so."""
        return self.name if self.noun is Noun.JOB else f"{self.noun} {self.name}"

    def shown(self) -> dict[str, Any]:
        changes = {name: {"before": before, "after": after} for name, (before, after) in self.changes.items()}
        shown = {
            "noun": self.noun.value,
            "action": self.action.value,
            "name": self.name,
            "changes": changes,
            "fires_added": list(self.fires_added),
            "fires_removed": list(self.fires_removed),
        }
        if self.noun is Noun.CALENDAR:
            shown |= {"dates_added": list(self.dates_added), "dates_removed": list(self.dates_removed)}
        return shown
