"""Workflows, hooks and templates: they run elsewhere, so what can be known about them here is tested here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from tests.house.conftest import Plant
from tests.house.tree import ROOT, must_be_empty, project

WORKFLOWS = ".github/workflows"
USES = re.compile(r"^\s*-?\s*uses:\s*(\S+)(.*)$")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
TAG = re.compile(r"\s+# v\d+\.\d+\.\d+")
POSTGRES = ("15", "16", "17", "18")


def test_actions_are_pinned_by_commit_and_name_their_tag() -> None:
    must_be_empty(loose_actions(ROOT))


def test_jobs_have_the_least_permissions_and_an_end() -> None:
    must_be_empty(generous_jobs(ROOT))


def test_workflows_call_verbs_that_there_are() -> None:
    must_be_empty(unknown_verbs(ROOT))


def test_every_version_that_is_claimed_is_tested() -> None:
    claimed = [
        line.rpartition(" :: ")[2] for line in project(ROOT)["classifiers"] if re.search(r":: 3\.\d+$", line)
    ]
    jobs = dict(workflows(ROOT))
    matrix = jobs["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert [row["python"] for row in matrix] == claimed
    assert jobs["release.yml"]["jobs"]["try"]["strategy"]["matrix"]["python"] == claimed
    assert {row["postgres"] for row in matrix} == set(POSTGRES)
    assert project(ROOT)["requires-python"] == f">={claimed[0]}"


def test_the_hook_before_a_commit_is_make_check_and_fetches_nothing() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    assert [hook["entry"] for hook in config["repos"][0]["hooks"]] == ["make check"]


def test_forms_for_issues_ask_for_something() -> None:
    for path in sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name != "config.yml":
            assert {"name", "description", "labels", "body"} <= set(form), path.name
            assert any(part.get("validations", {}).get("required") for part in form["body"]), path.name


def test_loose_actions_and_generous_jobs_are_found(plant: Plant) -> None:
    root = plant(
        f"{WORKFLOWS}/bad.yml",
        f"""
        permissions: write-all
        jobs:
          one:
            permissions: {{}}
            timeout-minutes: 5
            steps:
              - uses: actions/checkout@v6
              - uses: actions/checkout@{"a" * 40}
              - run: make nothing
          two:
            steps:
              - uses: actions/checkout@{"a" * 40} # v6.0.2
              - uses: actions/checkout@{"b" * 40} # v6.0.1
        """,
    )
    plant("Makefile", "test: # Nothing to do.\n")
    place = f"{WORKFLOWS}/bad.yml"
    assert loose_actions(root) == [
        f"{place}:8: pin actions/checkout@v6 by its commit, with its tag behind it: # v1.2.3",
        f"{place}:9: pin actions/checkout@{'a' * 40} by its commit, with its tag behind it: # v1.2.3",
        f"{WORKFLOWS}: actions/checkout is pinned to 2 commits.",
    ]
    assert generous_jobs(root) == [
        f"{place}: begin with `permissions: {{}}`, and give each job what it needs.",
        f"{place}: the job two does not say its permissions.",
        f"{place}: the job two does not say its timeout-minutes.",
    ]
    assert unknown_verbs(root) == [f"{place}: there is no `make nothing`."]


def workflows(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((root / WORKFLOWS).glob("*.yml")):
        yield path.name, yaml.safe_load(path.read_text(encoding="utf-8"))


def loose_actions(root: Path) -> list[str]:
    found, pins = [], dict[str, set[str]]()
    for path in sorted((root / WORKFLOWS).glob("*.yml")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if not (uses := USES.match(line)):
                continue
            action, rest = uses.groups()
            if not PINNED.fullmatch(action) or not TAG.fullmatch(rest):
                say = f"pin {action} by its commit, with its tag behind it: # v1.2.3"
                found.append(f"{WORKFLOWS}/{path.name}:{number}: {say}")
            else:
                pins.setdefault(action.partition("@")[0], set()).add(action)
    many = {name: actions for name, actions in pins.items() if len(actions) > 1}
    return found + [f"{WORKFLOWS}: {name} is pinned to {len(many[name])} commits." for name in sorted(many)]


def generous_jobs(root: Path) -> list[str]:
    found = []
    for name, workflow in workflows(root):
        if workflow.get("permissions") != {}:
            say = "begin with `permissions: {}`, and give each job what it needs."
            found.append(f"{WORKFLOWS}/{name}: {say}")
        found += [
            f"{WORKFLOWS}/{name}: the job {job} does not say its {key}."
            for job, body in workflow["jobs"].items()
            for key in ("permissions", "timeout-minutes")
            if key not in body
        ]
    return found


def unknown_verbs(root: Path) -> list[str]:
    verbs = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    return [
        f"{WORKFLOWS}/{name}: there is no `make {verb}`."
        for name, workflow in workflows(root)
        for body in workflow["jobs"].values()
        for step in body["steps"]
        for verb in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))
        if verb not in verbs
    ]
