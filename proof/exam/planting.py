"""A bug as data, and how it gets into a copy of the product."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"


class DoesNotApply(AssertionError):
    """The product has changed, and the bug with it: a bug that is not planted proves nothing."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Where, within the package; which text, found there exactly once; and what comes in its place."""

    file: str
    old: str
    new: str

    def applied_to(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise DoesNotApply(f"{self.file} has {text.count(self.old)} times, not once: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Bug:
    """`caught_by` names the tests that catch it, for what no simulated world can see. Else seeds must."""

    name: str
    edits: tuple[Edit, ...]
    caught_by: tuple[str, ...] = ()

    @property
    def is_in_postgres(self) -> bool:
        """Whether its tests need a PostgreSQL server. Others run without one."""
        return any("/postgres/" in edit.file for edit in self.edits)


def bug(name: str, file: str, old: str, new: str, *more: Edit, caught_by: str = "") -> Bug:
    return Bug(name, (Edit(file, old, new), *more), tuple(caught_by.split()))


def plant(one: Bug, folder: Path) -> Path:
    """A copy of the product with the bug in it. Returns where Python finds it."""
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for edit in one.edits:
        path = folder / "gnomon" / edit.file
        changed = edit.applied_to(path.read_text(encoding="utf-8"))
        if path.suffix == ".py":
            compile(changed, str(path), "exec")
        path.write_text(changed, encoding="utf-8")
    return folder
