"""The documentation keeps up: every error, status and command has its place, links resolve, code runs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from gnomon import errors
from gnomon.core.explain.obstacles import Obstacle
from gnomon.settings import TABLE
from tests.house.conftest import Plant
from tests.house.pages import HEADING, links, pages, read, resolves, run_document, section
from tests.house.program import leaf_commands
from tests.house.tree import ROOT, must_be_empty, sources

ERRORS = "docs/reference/errors.md"
STATUSES = "docs/reference/statuses.md"
COMMANDS = "docs/reference/cli.md"
SETTINGS = "docs/reference/settings.md"
ENDPOINTS = "docs/reference/api.md"
REASONS = "docs/reference/reasons.md"
VIOLATION = "A change violates this decision when"
ADR_NAME = re.compile(r"\d{4}-[a-z0-9-]+\.md")
DOCUMENTS_THAT_RUN = [
    Path("README.md"),
    *(
        path.relative_to(ROOT)
        for folder in ("docs/tutorial", "docs/how-to", "docs/internals")
        for path in sorted((ROOT / folder).glob("**/*.md"))
    ),
]


def test_docs_have_a_heading_for_every_error() -> None:
    must_be_empty(undocumented_errors(ROOT, error_classes()))


def test_docs_have_a_row_for_every_status() -> None:
    must_be_empty(undocumented_statuses(ROOT))


def test_docs_have_a_heading_for_every_command() -> None:
    must_be_empty(undocumented_commands(ROOT, list(leaf_commands())))


def test_docs_have_a_heading_for_every_setting() -> None:
    must_be_empty(undocumented_settings(ROOT, {row.key: row.variables for row in TABLE}))


def test_docs_have_a_heading_for_every_endpoint() -> None:
    must_be_empty(undocumented_endpoints(ROOT, list(endpoints())))


def test_docs_have_a_heading_for_every_reason() -> None:
    headed = [title.strip("`") for _, title in HEADING.findall(read(ROOT, REASONS)) if title.startswith("`")]
    codes = [str(one) for one in Obstacle]
    must_be_empty([f"{REASONS}:1: no heading for `{one}`." for one in codes if one not in headed])
    must_be_empty(
        [f"{REASONS}:1: the heading `{one}` names no reason." for one in headed if one not in codes]
    )


def test_docs_say_what_violates_each_decision() -> None:
    must_be_empty(incomplete_decisions(ROOT))


def test_docs_links_resolve() -> None:
    must_be_empty(broken_links(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS_THAT_RUN, ids=str)
def test_docs_code_runs(document: Path, tmp_path: Path) -> None:
    done = run_document(ROOT / document, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_docs_without_an_error_are_found(plant: Plant) -> None:
    root = plant(ERRORS, "# Errors\n## INVALID_CRON\nClass `InvalidCron`.\n## OLD_CODE\n")
    found = undocumented_errors(root, [errors.InvalidCron, errors.LeaseLost])
    assert found == [
        f"{ERRORS}:1: no heading for LEASE_LOST (class LeaseLost in src/gnomon/errors.py).",
        f"{ERRORS}:1: the heading OLD_CODE names no error any more.",
    ]


def test_docs_without_a_status_are_found(plant: Plant) -> None:
    plant(
        "src/gnomon/core/jobs/job.py",
        """
        class JobStatus(StrEnum):
            ACTIVE = "ACTIVE"
            LOST = "LOST"
        class RunStatus(StrEnum):
            ACTIVE = "ACTIVE"
        """,
    )
    root = plant(STATUSES, "## Job status\n| `ACTIVE` | fires |\n## Other\n| `LOST` | in another section |\n")
    assert undocumented_statuses(root) == [
        f"{STATUSES}: no row for LOST under 'Job status' (src/gnomon/core/jobs/job.py:4).",
        f"{STATUSES}: no row for ACTIVE under 'Run status' (src/gnomon/core/jobs/job.py:6).",
    ]


def test_docs_without_a_command_are_found(plant: Plant) -> None:
    root = plant(COMMANDS, "# Commands\n## `gnomon db migrate`\n")
    assert undocumented_commands(root, ["gnomon db migrate", "gnomon db check"]) == [
        f"{COMMANDS}:1: no heading for `gnomon db check`."
    ]


def test_docs_without_a_setting_are_found(plant: Plant) -> None:
    root = plant(
        SETTINGS,
        "# Settings\n## `database`\nor `OUR_DATABASE`\n## `slots`\n`OUR_SLOT`\n## `old`\n`OUR_OLD`\n",
    )
    names = {"database": ("OUR_DATABASE",), "slots": ("OUR_SLOTS",), "workers": ("OUR_WORKERS",)}
    assert undocumented_settings(root, names) == [
        f"{SETTINGS}:1: `OUR_SLOTS` is not named under the heading `slots`.",
        f"{SETTINGS}:1: no heading for `workers`.",
        f"{SETTINGS}:1: the heading `old` names no setting any more.",
    ]


def test_docs_decisions_that_cannot_be_violated_are_found(plant: Plant) -> None:
    plant("docs/adr/0001-good.md", f"# 1\n\n{VIOLATION} it is bad.\n")
    plant("docs/adr/README.md", "an index is no decision")
    root = plant("docs/adr/0002-vague.md", "# 2\n\nBe nice.\n")
    assert [line.partition(":")[0] for line in incomplete_decisions(root)] == ["docs/adr/0002-vague.md"]


def test_docs_links_that_lead_nowhere_are_found(plant: Plant) -> None:
    plant("docs/other.md", "# A heading, with `code`\n")
    root = plant(
        "docs/index.md",
        """\
        # Index
        [good](other.md) [anchor](other.md#a-heading-with-code) [self](#index) [web](https://example.org)
        ```
        [code](not-a-link.md)
        ```
        [gone](gone.md)
        [no anchor](other.md#gone) and [one
        over two lines](lost.md)
        """,
    )
    assert [line.partition(" ")[0] for line in broken_links(root)] == [
        f"docs/index.md:{line}:" for line in (6, 7, 8)
    ]


def test_docs_code_that_fails_is_found_with_its_line(plant: Plant, tmp_path: Path) -> None:
    plant(
        "good.md",
        """\
        ```python
        import asyncio
        x = 1
        ```
        Text between the blocks.
        ```python
        await asyncio.sleep(0)
        assert x == 1
        ```
        """,
    )
    root = plant("bad.md", "text\n```python\nx = 1\nassert x == 2\n```\n")
    assert run_document(root / "good.md", tmp_path).returncode == 0
    bad = run_document(root / "bad.md", tmp_path)
    assert bad.returncode != 0
    assert 'bad.md", line 4' in bad.stderr


def error_classes() -> list[type[errors.GnomonError]]:
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.GnomonError)
    ]


def undocumented_errors(root: Path, classes: list[type[errors.GnomonError]]) -> list[str]:
    text = read(root, ERRORS)
    headed = {title.strip("`") for _, title in HEADING.findall(text)}
    missing = [
        f"{ERRORS}:1: no heading for {kind.code} (class {kind.__name__} in src/gnomon/errors.py)."
        for kind in classes
        if kind.code not in headed or f"`{kind.__name__}`" not in text
    ]
    codes = {kind.code for kind in classes}
    outlived = sorted(title for title in headed if re.fullmatch(r"[A-Z_]+", title) and title not in codes)
    return missing + [f"{ERRORS}:1: the heading {title} names no error any more." for title in outlived]


def undocumented_statuses(root: Path) -> list[str]:
    """Members of the core's `…Status` enums without a row under the heading of their enum."""
    text = read(root, STATUSES)
    return [
        f"{STATUSES}: no row for {member} under {heading!r} ({place})."
        for heading, member, place in statuses(root)
        if f"| `{member}` |" not in section(text, heading)
    ]


def statuses(root: Path) -> Iterator[tuple[str, str, str]]:
    for source in sources(root, under="src/gnomon/core"):
        for node in ast.walk(source.tree):
            if not (isinstance(node, ast.ClassDef) and node.name.endswith("Status")):
                continue
            heading = re.sub(r"(?<=[a-z])([A-Z])", lambda letter: " " + letter[1].lower(), node.name)
            for line in node.body:
                match line:
                    case ast.Assign(value=ast.Constant(value=str(member))):
                        yield heading, member, source.at(line)


def endpoints() -> Iterator[str]:
    """Every route of the API, as `GET /v1/jobs/{job_id}`."""
    from gnomon.api import ROUTES

    for route in ROUTES:
        for path in route.paths:
            for method in getattr(route, "http_methods", ["WS"]):
                yield f"{method} {path.replace(':str}', '}')}"


def undocumented_endpoints(root: Path, names: list[str]) -> list[str]:
    headed = {title.strip("`") for _, title in HEADING.findall(read(root, ENDPOINTS))}
    missing = [f"{ENDPOINTS}:1: no heading for `{name}`." for name in names if name not in headed]
    verbs = ("GET ", "POST ", "PUT ", "DELETE ", "WS ")
    outlived = sorted(title for title in headed if title.startswith(verbs) and title not in names)
    return missing + [
        f"{ENDPOINTS}:1: the heading `{title}` names no endpoint any more." for title in outlived
    ]


def undocumented_commands(root: Path, names: list[str]) -> list[str]:
    headed = {title.strip("`") for _, title in HEADING.findall(read(root, COMMANDS))}
    return [f"{COMMANDS}:1: no heading for `{name}`." for name in names if name not in headed]


def undocumented_settings(root: Path, settings: Mapping[str, Sequence[str]]) -> list[str]:
    """Settings, by key with their variables, and what the page does not say about them."""
    text = read(root, SETTINGS)
    headed = [title.strip("`") for _, title in HEADING.findall(text) if title.startswith("`")]
    missing = [
        f"{SETTINGS}:1: no heading for `{key}`."
        if key not in headed
        else f"{SETTINGS}:1: `{variable}` is not named under the heading `{key}`."
        for key, variables in settings.items()
        for variable in variables
        if key not in headed or f"`{variable}`" not in section(text, f"`{key}`")
    ]
    outlived = [key for key in headed if key not in settings]
    return missing + [f"{SETTINGS}:1: the heading `{key}` names no setting any more." for key in outlived]


def incomplete_decisions(root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}: no line begins with {VIOLATION!r}. Say how a reviewer sees a breach."
        for path in sorted((root / "docs/adr").glob("*.md"))
        if ADR_NAME.fullmatch(path.name)
        and not any(line.startswith(VIOLATION) for line in path.read_text(encoding="utf-8").splitlines())
    ]


def broken_links(root: Path) -> list[str]:
    return [
        f"{place}:{number}: the link {target} leads nowhere."
        for place, text in pages(root)
        for number, target in links(text)
        if not resolves(root / place, target)
    ]
