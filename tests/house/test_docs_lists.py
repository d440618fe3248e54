"""Lists in the documentation that claim to be complete: each is held against the code, in both directions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import msgspec
import pytest

import gnomon
from gnomon.app.jobs.declaration import Declaration
from gnomon.client.remote.worker_protocol import OutcomeWord
from gnomon.core.access.keys import Scope
from gnomon.core.executions.execution import AttemptOutcome, WaitsFor
from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.jobs.retry import RetryPolicy, to_document
from gnomon.core.runs.backfills import Existing
from gnomon.core.schedules.occurrence import SkipReason
from gnomon.core.time.schedule import Misfire, Overlap
from gnomon.core.values.events import EventType
from gnomon.core.workflows.workflow import FailureStrategy
from gnomon.handlers.discovery import installed_kinds
from gnomon.handlers.dummy import DummyPayload
from gnomon.handlers.http.payload import HttpPayload
from gnomon.handlers.python.functions import Isolation
from gnomon.handlers.python.handler import FunctionPayload
from gnomon.handlers.script.payload import ScriptPayload
from gnomon.settings import HandlerSettings
from gnomon.store.operations.diagnosis import INVARIANTS
from tests.house.conftest import Plant
from tests.house.pages import HEADING, LINK, first_cells, read, section
from tests.house.tree import PACKAGE, ROOT, Source, must_be_empty, sources

API = "docs/reference/api.md"
HANDLERS = "docs/reference/handlers.md"
HOW_IT_RUNS = "docs/explanation/how-it-runs.md"
METRICS = "docs/reference/metrics.md"
PYTHON = "docs/reference/python.md"
RETRIES = "docs/reference/retries.md"
SCHEDULES = "docs/reference/schedules.md"
STATUSES = "docs/reference/statuses.md"
STORES = "docs/reference/stores.md"
WORKFLOWS = "docs/reference/workflows.md"

PROTOCOLS = f"{PACKAGE}/store/protocols"
MIGRATIONS = f"{PACKAGE}/store/sql/migrations"
CODE = re.compile(r"`([^`]+)`")
UNUSED_TABLES = "These are there and empty"

# Services that belong to what they run beside, and are not listed by themselves.
NOT_SERVICES = {"Service": "what every service is", "Doorman": "a loop of its own, beside the server"}

# Types of events that have a name and that nothing tells yet.
NOT_TOLD = {
    EventType.EXECUTION_SKIPPED,
    EventType.WORKER_REGISTERED,
    EventType.WORKER_DRAINED,
    EventType.WORKER_LOST,
}


@dataclass(frozen=True)
class Listed:
    """A table under a heading, whose first column names all there is of something."""

    page: str
    heading: str
    names: Callable[[], Iterable[str]]
    title: str = ""  # Of the first column, if there are more tables under the heading.
    is_of_code: bool = True  # The names stand in code; else the whole cell is the name.

    def __str__(self) -> str:
        return f"{Path(self.page).stem}: {self.heading}"


LISTS = [
    Listed(HOW_IT_RUNS, "Services are steps", lambda: services(ROOT), is_of_code=False),
    Listed(HOW_IT_RUNS, "What runs your code", lambda: Isolation),
    Listed(STORES, "Verbs", lambda: nouns(ROOT)),
    Listed(STORES, "Upkeep", lambda: verbs(ROOT)["upkeep"]),
    Listed(STORES, "Tables", lambda: tables(ROOT, "postgres")),
    Listed(SCHEDULES, "misfire_policy", lambda: Misfire),
    Listed(SCHEDULES, "overlap_policy", lambda: Overlap),
    Listed(SCHEDULES, "Why a time was skipped", lambda: SkipReason),
    Listed(API, "Scopes", lambda: Scope),
    Listed(API, "The worker protocol", lambda: OutcomeWord),
    Listed(WORKFLOWS, "Failure strategies", lambda: FailureStrategy),
    Listed(WORKFLOWS, "Backfills", lambda: Existing),
    Listed(RETRIES, "Retry policy", lambda: to_document(RetryPolicy())),
    Listed(PYTHON, "`RetryPolicy`", lambda: [one.name for one in fields(RetryPolicy)]),
    Listed(PYTHON, "`@app.job`", lambda: {"name", *(one.name for one in fields(Declaration))}, "option"),
    Listed(STATUSES, "Attempt outcome", lambda: AttemptOutcome),
    Listed(STATUSES, "What an execution waits for", lambda: WaitsFor),
    Listed(STATUSES, "Reason of a dead letter", lambda: DeadReason),
    Listed("docs/reference/cli.md", "`gnomon doctor`", lambda: doctor()),
    Listed(HANDLERS, "Handlers", lambda: installed_kinds(HandlerSettings()).installed or ()),
    Listed(HANDLERS, "The kind `dummy`", lambda: of_struct(DummyPayload)),
    Listed(HANDLERS, "The kind `http`", lambda: of_struct(HttpPayload), "field"),
    Listed(HANDLERS, "The kind `python`", lambda: of_struct(FunctionPayload), "field"),
    Listed(HANDLERS, "The kind `script`", lambda: of_struct(ScriptPayload), "field"),
]


@pytest.mark.parametrize("listed", LISTS, ids=str)
def test_docs_list_all_there_is_and_no_more(listed: Listed) -> None:
    must_be_empty(wrong_list(ROOT, listed))


def test_docs_list_every_verb_of_every_noun() -> None:
    must_be_empty(wrong_verbs(ROOT))


def test_docs_tell_which_tables_nothing_uses() -> None:
    unused = {name for name in tables(ROOT, "postgres") if not uses(ROOT, name)}
    told = read(ROOT, STORES).partition(UNUSED_TABLES)[2].partition("##")[0]
    assert set(names_in(first_cells(told))) == unused
    assert tables(ROOT, "postgres") == tables(ROOT, "sqlite")


def test_docs_list_every_metric_and_no_other() -> None:
    named = {
        name.removesuffix("_total")
        for source in sources(ROOT, under=f"{PACKAGE}/health")
        for name in re.findall(r'"(gnomon_[a-z_]+)"', source.text)
    } - {"gnomon_request_id"}
    headed = {title.strip("`").removesuffix("_total") for _, title in HEADING.findall(read(ROOT, METRICS))}
    assert {name for name in headed if name.startswith("gnomon_")} == named


def test_docs_list_every_type_of_event_that_is_told() -> None:
    told = set(re.findall(r"`([a-z]+\.[a-z_]+)`", section(read(ROOT, API), "Events").partition("Types:")[2]))
    assert told >= set(EventType) - NOT_TOLD
    assert not told & NOT_TOLD
    said = "\n".join(path.read_text("utf-8") for path in (ROOT / PACKAGE / "store").rglob("*.sql"))
    assert not [one for one in NOT_TOLD if f"'{one}'" in said], "It is told now: document it."


def test_docs_list_every_kind_of_failure() -> None:
    must_be_empty(wrong_failures(ROOT))


def test_docs_list_what_the_package_offers() -> None:
    text = read(ROOT, PYTHON)
    offered = [name for name in dir(gnomon) if name[0].isupper() and name != "TYPE_CHECKING"]
    assert [name for name in offered if f"`{name}" not in text] == []


@pytest.mark.parametrize("kind", [gnomon.Context, gnomon.Run], ids=lambda kind: kind.__name__)
def test_docs_name_all_that_an_object_offers(kind: type) -> None:
    told = section(read(ROOT, PYTHON), f"`{kind.__name__}`")
    public = [name for name in dir(kind) if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"\b{name}\b", told)] == []


def test_docs_list_every_page() -> None:
    told = {target.partition("#")[0] for target in LINK.findall(read(ROOT, "docs/README.md"))}
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").glob("[!a]*/*.md")}
    assert sorted(written - told) == []


def test_a_list_with_a_gap_and_a_ghost_is_found(plant: Plant) -> None:
    root = plant(
        "page.md", "## Scopes\n| scope | x |\n|---|---|\n| `admin` | x |\n| `ghost` | x |\n## Next\n"
    )
    assert wrong_list(root, Listed("page.md", "Scopes", lambda: ["admin", "read"])) == [
        "page.md: no row for read under 'Scopes'.",
        "page.md: the row ghost under 'Scopes' names nothing that there is.",
    ]


def test_a_service_that_is_not_listed_is_found(plant: Plant) -> None:
    root = plant(
        f"{PACKAGE}/engine/x.py",
        """
        class KeyKeeper:
            async def step(self) -> timedelta: ...
        class Doorman:
            async def step(self) -> float: ...
        """,
    )
    assert services(root) == {"key keeper"}


def test_tables_that_nothing_uses_are_found(plant: Plant) -> None:
    plant(
        f"{MIGRATIONS}/postgres/0001_x.sql",
        "CREATE TABLE a (x); CREATE TABLE old (x); CREATE TABLE b (x); CREATE TABLE c PARTITION OF a;",
    )
    plant(
        f"{MIGRATIONS}/postgres/0002_x.sql",
        "DROP TABLE b, old;\nCREATE TABLE new_q (x);\nALTER TABLE new_q RENAME TO q;",
    )
    root = plant(f"{PACKAGE}/store/sql/common/jobs/find.sql", "SELECT x FROM a -- FROM q")
    assert tables(root, "postgres") == {"a", "q", "schema_migrations"}
    assert uses(root, "a")
    assert not uses(root, "q")


# What the pages say ---------------------------------------------------------------------------------


def wrong_list(root: Path, listed: Listed) -> list[str]:
    cells = first_cells(section(read(root, listed.page), listed.heading), listed.title)
    written = list(names_in(cells)) if listed.is_of_code else cells
    wanted = {str(name) for name in listed.names()}
    missing = sorted(wanted.difference(written))
    ghosts = sorted(set(written) - wanted)
    return [f"{listed.page}: no row for {name} under {listed.heading!r}." for name in missing] + [
        f"{listed.page}: the row {name} under {listed.heading!r} names nothing that there is."
        for name in ghosts
    ]


def names_in(cells: Iterable[str]) -> Iterator[str]:
    for cell in cells:
        yield from CODE.findall(cell)


def wrong_verbs(root: Path) -> list[str]:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", section(read(root, STORES), "Verbs"), re.MULTILINE)
    wanted = verbs(root)
    return [
        f"{STORES}: the verbs of {noun} are {', '.join(sorted(wanted.get(noun, ())))}; "
        f"the page has {', '.join(sorted(CODE.findall(told)))}."
        for noun, told in rows
        if noun != "upkeep" and set(CODE.findall(told)) != wanted.get(noun)
    ]


def wrong_failures(root: Path) -> list[str]:
    pages = {
        HANDLERS: ["How an attempt ends"],
        WORKFLOWS: ["Kinds of failures", "Runs that cannot begin or go on"],
    }
    told = {
        name
        for page, headings in pages.items()
        for heading in headings
        for name in names_in(first_cells(section(read(root, page), heading)))
    }
    made = dict(failures(root))
    literals = {word for source in sources(root) for word in re.findall(r'"([a-z_]+)"', source.text)}
    return [
        f"{place}: no row for the kind of failure {name!r}."
        for name, place in made.items()
        if name not in told
    ] + [
        f"the kind of failure {name!r} has a row, and nothing fails with it."
        for name in sorted(told - literals)
    ]


# What there is --------------------------------------------------------------------------------------


def services(root: Path) -> set[str]:
    """Classes whose `step` returns its pause, as words: `shard keeper`."""
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.name).lower()
        for source in product(root)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and node.name not in NOT_SERVICES
        for line in node.body
        if isinstance(line, ast.AsyncFunctionDef) and line.name == "step"
    }


def product(root: Path) -> Iterator[Source]:
    for source in sources(root):
        if source.layer not in {"testing", "proof"}:
            yield source


def nouns(root: Path) -> set[str]:
    return set(verbs(root))


def verbs(root: Path) -> dict[str, set[str]]:
    """The verbs of the protocols, by the property under which a store has each."""
    classes = {
        node.name: node
        for source in sources(root, under=PROTOCOLS)
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
    }
    properties = {
        line.name: ast.unparse(line.returns)
        for node in classes.values()
        for line in node.body
        if isinstance(line, ast.FunctionDef) and line.decorator_list and line.returns is not None
    }
    return {
        noun: {line.name for line in classes[name].body if isinstance(line, ast.AsyncFunctionDef)}
        for noun, name in properties.items()
    }


def tables(root: Path, dialect: str) -> set[str]:
    """What the migrations of a dialect leave, without partitions; and the table that remembers them."""
    found = {"schema_migrations"}
    statement = re.compile(
        r"CREATE TABLE (?:IF NOT EXISTS )?(?P<made>\w+)(?P<part> PARTITION OF)?"
        r"|DROP TABLE (?:IF EXISTS )?(?P<dropped>[\w, ]+)"
        r"|ALTER TABLE (?P<old>\w+) RENAME TO (?P<new>\w+)",
        re.IGNORECASE,
    )
    for path in sorted((root / MIGRATIONS / dialect).glob("*.sql")):
        for one in statement.finditer(without_comments(path.read_text(encoding="utf-8"))):
            if one["made"] and not one["part"]:
                found.add(one["made"])
            elif one["dropped"]:
                found -= set(re.findall(r"\w+", one["dropped"]))
            elif one["new"]:
                found = (found - {one["old"]}) | {one["new"]}
    return found


def uses(root: Path, table: str) -> bool:
    """Whether a statement reads or writes it."""
    use = re.compile(
        rf"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\s+(?:ONLY\s+)?{table}\b|['\"]{table}['\"]", re.IGNORECASE
    )
    files = [path for path in (root / PACKAGE / "store").rglob("*") if path.suffix in {".sql", ".py"}]
    return any(
        use.search(without_comments(path.read_text(encoding="utf-8")))
        for path in files
        if "migrations" not in path.parts
    ) or uses_in_triggers(root, table)


def uses_in_triggers(root: Path, table: str) -> bool:
    use = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+{table}\b", re.IGNORECASE)
    return any(
        use.search(body)
        for path in (root / MIGRATIONS).rglob("*.sql")
        for body in re.findall(
            r"CREATE (?:FUNCTION|TRIGGER|VIEW).*?(?:END;|\$\$;|;\n\n)",
            path.read_text(encoding="utf-8"),
            re.DOTALL,
        )
    )


def without_comments(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)


def failures(root: Path) -> Iterator[tuple[str, str]]:
    """Kinds of failures that the product says, each with a place: names of exceptions are not among them."""
    for source in product(root):
        for node in ast.walk(source.tree):
            match node:
                case ast.Call(func=ast.Name(id="Failure"), args=[ast.Constant(value=str(kind)), *_]):
                    yield kind, source.at(node)
                case ast.Call(func=ast.Name(id="JobFailed"), keywords=keywords):
                    for keyword in keywords:
                        match keyword:
                            case ast.keyword(arg="kind", value=ast.Constant(value=str(kind))) if (
                                kind.islower()
                            ):
                                yield kind, source.at(node)


def doctor() -> set[str]:
    """`database` and `runnable` are looked at in other ways than by a statement."""
    return {"database", "runnable", *(one.name for one in INVARIANTS)}


def of_struct(struct: type[msgspec.Struct]) -> list[str]:
    return list(struct.__struct_fields__)
