"""Benchmarks: `python -m benchmarks NAME [--json]`.

A benchmark is a module of this package with a function `run() -> Report`; its name is its file's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """What a benchmark found: a table for people, and the same as numbers, ready for JSON."""

    table: str
    numbers: Mapping[str, object]
