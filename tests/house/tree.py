"""What the house rules look at: the files of a checkout, and the syntax trees of its Python sources.

Every rule is a function from the root of a checkout to a list of sentences, each naming a file and a line.
So a rule can be tried on a small bad tree, and a rule that cannot fail is found out.
"""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = "src/gnomon"
PROOF = "proof"  # Beside the package: nobody installs it.
NOT_OURS = {".git", ".bench", "__pycache__", ".hypothesis", "node_modules", "dist", "build"}

# Each layer may import itself and the ones before it.
LAYERS = [
    "errors", "core", "logs", "settings", "handlers", "store", "engine", "client", "health", "api", "app",
    "testing", "cli",
]  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file: its place in the checkout, its text, its tree."""

    place: str
    text: str
    tree: ast.Module

    @property
    def layer(self) -> str:
        """The first name below the package: `core` for core/time/cron.py, `app` for app.py."""
        return Path(self.place).relative_to(PACKAGE).with_suffix("").parts[0]

    @property
    def module(self) -> str:
        place = Path(self.place).with_suffix("")
        parts = place.relative_to("src").parts if place.is_relative_to("src") else place.parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def at(self, node: ast.AST) -> str:
        return f"{self.place}:{getattr(node, 'lineno', 1)}"


def files(root: Path) -> Iterator[Path]:
    """Every file of the checkout that we wrote, in a stable order."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _is_made(name))
        for name in sorted(names):
            if not _is_made(name):  # In a worktree, .git is a file.
                yield Path(folder) / name


def _is_made(name: str) -> bool:
    """Environments may stand side by side, such as .venv-3.13."""
    return name in NOT_OURS or name.startswith(".venv") or name.endswith("_cache")


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    """The place and the text of every file that is text."""
    for path in files(root):
        try:
            yield str(path.relative_to(root)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def project(root: Path) -> dict[str, Any]:
    """What pyproject.toml says of the distribution."""
    table: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def sources(root: Path, *, under: str = PACKAGE) -> Iterator[Source]:
    for path in sorted((root / under).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Source(str(path.relative_to(root)), text, _tree(text))


@cache
def _tree(text: str) -> ast.Module:
    """Rules only look at it, so they share it."""
    return ast.parse(text)


def functions(source: Source) -> Iterator[Function]:
    for node in ast.walk(source.tree):
        if isinstance(node, Function):
            yield node


def imports(source: Source) -> Iterator[tuple[ast.stmt, str]]:
    """Every name that a source imports, in full: `gnomon.core.time.cron`, `datetime.datetime`."""
    package = source.module if source.place.endswith("__init__.py") else source.module.rpartition(".")[0]
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*parents, *filter(None, [node.module])])
            for alias in node.names:
                yield node, f"{origin}.{alias.name}"


def must_be_empty(found: list[str]) -> None:
    """Fail with every sentence that a rule found, not with the first and a count."""
    assert not found, "\n" + "\n".join(found)


def stale(root: Path, exceptions: dict[str, str], *, listed_in: str) -> list[str]:
    """Exceptions for files that no longer exist."""
    return [
        f"{listed_in}: the exception for {place} has outlived the file; remove the line."
        for place in exceptions
        if not (root / place.partition("::")[0]).exists()
    ]
