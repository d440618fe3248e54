"""Sizes, names and traces of a machine. A size is a smell to look at; an exception has a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import (
    PACKAGE,
    PROOF,
    ROOT,
    Source,
    files,
    functions,
    must_be_empty,
    sources,
    stale,
    text_files,
)

FILE_LINES_MAX = 300
FUNCTION_LINES_MAX = 40

# Longer than the house likes, and why: "path" for a file, "path::function" for a function.
EXCEPTIONS: dict[str, str] = {
    "proof/simulator/seeds/profiles.py::draw": "All that a world is drawn from, in the order of the draws.",
    "src/gnomon/errors.py": "Everything that Gnomon refuses, in one list: short classes, no logic.",
    "proof/checker/history/events.py": "The vocabulary of a history, on one page: short classes, no logic.",
    "src/gnomon/handlers/script/launch.py": "A program of its own, which can import nothing of ours.",
    "src/gnomon/core/executions/lifecycle.py": "Both tables of transitions and what decides by them.",
}

# Names that say nothing about what is inside.
VAGUE = {"utils", "util", "common", "helpers", "helper", "models", "managers", "misc", "shared"}
VAGUE_ALLOWED = {
    f"{PACKAGE}/store/sql/common": "statements that both databases share; not a module",
    f"{PACKAGE}/store/sql/fragments/common": "fragments that both databases share; not a module",
}

LOCK_FILE = re.compile(r"(^|/)(requirements.*\.txt|requirements/.*|.*[.-]lock(\..*)?|pip\.conf|\.npmrc)$")
HOST = re.compile(
    r"https?://|--(extra-)?index-url|--find-links|--trusted-host|^\s*registry\s*=", re.MULTILINE
)
MACHINE_PATH = re.compile(r"(?<![\w.~*-])/(?:work|root|home)(?=/|\b(?![-\w]))")


def test_files_are_short() -> None:
    must_be_empty(long_files(ROOT))


def test_functions_are_short() -> None:
    must_be_empty(long_functions(ROOT))


def test_the_exceptions_for_sizes_still_exist() -> None:
    must_be_empty(stale(ROOT, EXCEPTIONS, listed_in=__file__))


def test_modules_say_what_they_own() -> None:
    must_be_empty(modules_without_docstring(ROOT))


def test_module_names_say_what_is_inside() -> None:
    must_be_empty(vague_names(ROOT))


def test_no_lock_or_requirement_file_names_a_host() -> None:
    must_be_empty(hosts_in_lock_files(ROOT))


def test_no_file_names_a_path_of_one_machine() -> None:
    must_be_empty(machine_paths(ROOT))


def test_a_long_file_and_a_long_function_are_found(plant: Plant) -> None:
    body = "    pass\n" * FUNCTION_LINES_MAX
    root = plant(f"{PACKAGE}/core/long.py", "def f():\n" + body + "\n" * FILE_LINES_MAX)
    assert long_files(root) == [f"{PACKAGE}/core/long.py:301: 341 lines; at most 300. Split it by noun."]
    assert long_functions(root) == [f"{PACKAGE}/core/long.py:1: f has 41 lines; at most 40. Name its steps."]


def test_a_module_without_a_docstring_is_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/core/good.py", '"""Says what it owns."""\n')
    plant(f"{PACKAGE}/core/bad.py", "x = 1\n")
    root = plant(f"{PROOF}/exam/worse.py", "x = 1\n")
    assert [line.partition(" ")[0] for line in modules_without_docstring(root)] == [
        f"{PACKAGE}/core/bad.py:1:",
        f"{PROOF}/exam/worse.py:1:",
    ]


def test_a_vague_name_is_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/store/sql/common/queue/claim.sql", "SELECT 1")
    plant(f"{PACKAGE}/core/helpers.py", "")
    plant(f"{PACKAGE}/models/job.py", "")
    root = plant(f"{PROOF}/checker/utils.py", "")
    assert [line.partition(":")[0] for line in vague_names(root)] == [
        f"{PROOF}/checker/utils.py",
        f"{PACKAGE}/core/helpers.py",
        f"{PACKAGE}/models",
    ]


def test_a_host_in_a_lock_file_is_found(plant: Plant) -> None:
    plant("requirements/dev.txt", "ruff==1\n--index-url https://registry.example/simple\n")
    plant("ui/package-lock.json", '{"resolved": "https://registry.example/x.tgz"}')
    root = plant("README.md", "https://example.org is fine here")
    assert [line.partition(" ")[0] for line in hosts_in_lock_files(root)] == [
        "requirements/dev.txt:2:",
        "ui/package-lock.json:1:",
    ]


def test_a_path_of_one_machine_is_found(plant: Plant) -> None:
    slash = "/"
    plant("docs/fine.md", "see `/workers`, `/v1/work/items`, example.org/home and ~/work")
    plant("docs/bad.md", f"line\nrun {slash}root/x.sh\ncd {slash}home/me\ncd '{slash}work'")
    root = plant("docs/also-fine.md", "a road/work ratio")
    assert [line.partition(" ")[0] for line in machine_paths(root)] == [
        "docs/bad.md:2:",
        "docs/bad.md:3:",
        "docs/bad.md:4:",
    ]


def of_the_house(root: Path) -> Iterator[Source]:
    for under in (PACKAGE, PROOF):
        yield from sources(root, under=under)


def long_files(root: Path) -> list[str]:
    return [
        f"{source.place}:{FILE_LINES_MAX + 1}: {lines} lines; at most {FILE_LINES_MAX}. Split it by noun."
        for source in of_the_house(root)
        if (lines := len(source.text.splitlines())) > FILE_LINES_MAX and source.place not in EXCEPTIONS
    ]


def long_functions(root: Path) -> list[str]:
    return [
        f"{source.at(node)}: {node.name} has {lines} lines; at most {FUNCTION_LINES_MAX}. Name its steps."
        for source in of_the_house(root)
        for node in functions(source)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
        and f"{source.place}::{node.name}" not in EXCEPTIONS
    ]


def modules_without_docstring(root: Path) -> list[str]:
    return [
        f"{source.place}:1: begin with a docstring that says what this module owns."
        for source in of_the_house(root)
        if not ast.get_docstring(source.tree)
    ]


def vague_names(root: Path) -> list[str]:
    places = {
        path
        for package in (root / PACKAGE, root / PROOF)
        for file in files(package)
        for path in (file, *file.parents)
        if package in path.parents
    }
    return [
        f"{place}: {Path(place).stem!r} says nothing about what is inside. Name it by the domain."
        for place in sorted(str(path.relative_to(root)) for path in places)
        if Path(place).stem in VAGUE and place not in VAGUE_ALLOWED
    ]


def hosts_in_lock_files(root: Path) -> list[str]:
    return [
        f"{place}:{number}: a lock file names a host. Every reader has a registry of their own."
        for place, text in text_files(root)
        if LOCK_FILE.search(place)
        for number, line in enumerate(text.splitlines(), start=1)
        if HOST.search(line)
    ]


def machine_paths(root: Path) -> list[str]:
    return [
        f"{place}:{number}: {found[0]!r} is a path of one machine. Use a relative path."
        for place, text in text_files(root)
        for number, line in enumerate(text.splitlines(), start=1)
        if (found := MACHINE_PATH.search(line))
    ]
