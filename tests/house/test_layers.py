"""Layers look left, and the core knows only data."""

from __future__ import annotations

from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import LAYERS, PACKAGE, PROOF, ROOT, imports, must_be_empty, sources

# Modules that hold data and functions on data: no clock, no chance, no world.
# `random` is here for its class `Random`, which a caller passes in; test_ambient.py forbids the rest of it.
PURE = {
    "__future__",
    "abc",
    "base64",
    "bisect",
    "calendar",
    "collections",
    "contextlib",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "hmac",
    "importlib.resources",
    "itertools",
    "json",
    "math",
    "msgspec",
    "operator",
    "random",
    "re",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "zoneinfo",
}


def test_layers_only_look_left() -> None:
    must_be_empty(looking_right(ROOT))


def test_the_core_imports_only_data_modules() -> None:
    must_be_empty(impure_imports(ROOT))


def test_gnomon_knows_nothing_of_its_proof() -> None:
    must_be_empty(imports_of(PROOF, ROOT, under=PACKAGE))


def test_the_checker_knows_nothing_of_what_it_judges() -> None:
    must_be_empty(imports_of("gnomon", ROOT, under=f"{PROOF}/checker"))


def test_an_import_that_crosses_to_the_proof_or_back_is_found(plant: Plant) -> None:
    plant("src/gnomon/engine/worker.py", "from proof.simulator.world import world\nimport proofs\n")
    root = plant("proof/checker/judge.py", "from proof.checker import index\nimport gnomon.core.values.ids\n")
    assert [line.partition(" ")[0] for line in imports_of(PROOF, root, under=PACKAGE)] == [
        "src/gnomon/engine/worker.py:1:"
    ]
    assert [line.partition(" ")[0] for line in imports_of("gnomon", root, under=f"{PROOF}/checker")] == [
        "proof/checker/judge.py:2:"
    ]


def test_a_layer_that_looks_right_is_found(plant: Plant) -> None:
    plant("src/gnomon/core/time/cron.py", "from gnomon.store import base\n")
    plant("src/gnomon/store/early.py", "def late() -> None:\n    from ..engine.clock import Clock\n")
    root = plant("src/gnomon/app.py", "from gnomon import core, cli\nimport gnomon.testing.clock\n")
    found = looking_right(root)
    assert [line.partition(" ")[0] for line in found] == [
        "src/gnomon/app.py:1:",
        "src/gnomon/app.py:2:",
        "src/gnomon/core/time/cron.py:1:",
        "src/gnomon/store/early.py:2:",
    ]
    assert "core may not import gnomon.store.base" in found[2]


def test_an_impure_import_in_the_core_is_found(plant: Plant) -> None:
    root = plant(
        "src/gnomon/core/time/cron.py",
        """
        import re, os
        from collections.abc import Mapping
        from importlib.resources import files
        from importlib import import_module
        from gnomon.core.time.dst import shift
        import asyncpg
        """,
    )
    assert [line.rpartition(" imports ")[2].split(",")[0] for line in impure_imports(root)] == [
        "os",
        "importlib.import_module",
        "asyncpg",
    ]


def looking_right(root: Path) -> list[str]:
    """Imports inside the package that point at a later layer, or at no layer at all."""
    found = []
    for source in sources(root):
        if source.layer not in LAYERS:
            continue
        allowed = LAYERS[: LAYERS.index(source.layer) + 1]
        for node, name in imports(source):
            package, _, rest = name.partition(".")
            target = rest.partition(".")[0]
            if package != "gnomon" or target in allowed or target.startswith("__"):
                continue
            found.append(
                f"{source.at(node)}: {source.layer} may not import {name}. "
                f"A layer looks at itself and to its left: {' → '.join(LAYERS)}."
            )
    return found


def imports_of(package: str, root: Path, *, under: str) -> list[str]:
    """Imports of a package in a folder that must not know it."""
    return [
        f"{source.at(node)}: {under} may not import {name}. The proof judges from outside: its checker "
        "shares no code with Gnomon, and Gnomon works without its proof."
        for source in sources(root, under=under)
        for node, name in imports(source)
        if name.partition(".")[0] == package
    ]


def impure_imports(root: Path) -> list[str]:
    """Imports of the core that are neither the core, nor the errors, nor a data module."""
    return [
        f"{source.at(node)}: the core imports {name}, which is not in the list of data modules. "
        "Let the caller pass the value in, or argue for the module in tests/house/test_layers.py."
        for source in sources(root, under="src/gnomon/core")
        for node, name in imports(source)
        if not is_pure(name)
    ]


def is_pure(name: str) -> bool:
    ours = name.startswith(("gnomon.core", "gnomon.errors"))
    return ours or any(name == module or name.startswith(f"{module}.") for module in PURE)
