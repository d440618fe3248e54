"""SQL lives in files named after their verbs: all used, there for both databases, never built from pieces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import ROOT, Function, Source, functions, must_be_empty, sources, stale

STORE = "src/gnomon/store"
SQL = f"{STORE}/sql"
PROTOCOLS = f"{STORE}/protocols"
DIALECTS = ["postgres", "sqlite"]
MIGRATION = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")
MIGRATION_KIND = re.compile(r"--\s*(expand|contract)\b", re.IGNORECASE)
COMMENT = re.compile(r"--[^\n]*")
FRAGMENT = re.compile(r"@(\w+)")
# Tables of which many statements write rows, and the fragment that does it.
WRITTEN_ONCE = {
    "endings": "ending",
    "events": "event",
    "executions": "execution",
    "leases": "lease",
    "queue": "waiting",
}
STATEMENT_NAME = re.compile(r"[a-z][a-z0-9_]*")

# Methods that take a statement: ours take its name, the drivers' take its text.
RUNNERS = {
    "execute",
    "executemany",
    "executescript",
    "execute_many",
    "fetch",
    "fetchall",
    "fetchmany",
    "fetchrow",
    "fetchval",
    "fetch_all",
    "fetch_one",
    "fetch_value",
    "prepare",
}

# Functions that must put SQL together, and why: "path::function".
BUILT_EXCEPTIONS: dict[str, str] = {
    f"{STORE}/databases/sqlite_connection.py::_wait_at_most": "A pragma takes no parameter: our number.",
    f"{STORE}/databases/sqlite_connection.py::commit": "The same.",
    f"{STORE}/databases/sqlite_connection.py::_fill": "The names of a batch and its columns: ours.",
    f"{STORE}/databases/foreign.py::_fill": "The same on a connection of a user.",
    f"{STORE}/databases/foreign.py::close": "The names of those batches.",
}

# Statements that only one database needs, and why.
LONELY_EXCEPTIONS: dict[str, str] = {
    f"{SQL}/sqlite/operations/temporary_tables.sql": "SQLite's batches; PostgreSQL takes arrays.",
    f"{SQL}/postgres/schema/server_facts.sql": "Settings of a server; SQLite has none.",
    f"{SQL}/postgres/operations/hint.sql": "Hints between processes; SQLite serves one.",
    f"{SQL}/postgres/operations/hints_channel.sql": "Where those hints are heard.",
    **{
        f"{SQL}/postgres/{name}.sql": "Months; a table of SQLite is one piece."
        for name in (
            "schema/partition_names",
            "schema/default_partitions_hold",
            "schema/month_lives",
            "operations/month_stays",
            "operations/month_belongings_forget",
        )
    },
}


def test_every_statement_file_is_used() -> None:
    must_be_empty(unused_statements(ROOT))


def test_every_statement_that_python_names_exists() -> None:
    must_be_empty(missing_statements(ROOT))


def test_every_statement_exists_for_both_databases() -> None:
    must_be_empty(lonely_statements(ROOT))


def test_sql_is_never_built_from_pieces() -> None:
    must_be_empty(built_sql(ROOT))


def test_the_exceptions_for_sql_still_exist() -> None:
    must_be_empty(stale(ROOT, BUILT_EXCEPTIONS | LONELY_EXCEPTIONS, listed_in=__file__))


def test_migrations_are_numbered_alike_and_say_their_kind() -> None:
    must_be_empty(wrong_migrations(ROOT))


def test_every_store_verb_is_in_the_contract_suite() -> None:
    must_be_empty(verbs_without_contract(ROOT))


def test_no_statement_updates_what_a_claim_may_have_picked() -> None:
    """A row that is updated moves; claim.sql, which deletes the places it has locked, would miss it.

    A row that waits at a gate is picked by no claim, so that one may be updated: it says so in its condition.
    """
    assert "ctid" in (ROOT / SQL / "postgres/queue/claim.sql").read_text()
    must_be_empty(queue_updates(ROOT))


def test_what_many_statements_write_is_written_in_one_fragment() -> None:
    must_be_empty(rows_written_elsewhere(ROOT))


def test_every_fragment_is_used() -> None:
    must_be_empty(unused_fragments(ROOT))


def test_a_row_that_is_written_outside_of_its_fragment_is_found(plant: Plant) -> None:
    plant(f"{SQL}/fragments/common/ending.sql", "INSERT INTO endings (id) SELECT {id}")
    plant(f"{SQL}/common/executions/end.sql", "-- INSERT INTO endings\n@ending(:id AS id)")
    plant(f"{SQL}/migrations/sqlite/0001_begin.sql", "INSERT INTO endings SELECT 1")
    root = plant(f"{SQL}/sqlite/runs/stop.sql", "DELETE FROM queue;\ninsert  into endings (id) VALUES (1)")
    assert [line.partition(":1:")[0] for line in rows_written_elsewhere(root)] == [
        f"{SQL}/sqlite/runs/stop.sql"
    ]


def test_a_fragment_that_no_statement_uses_is_found(plant: Plant) -> None:
    plant(f"{SQL}/fragments/common/ending.sql", "INSERT INTO endings SELECT {id}")
    plant(f"{SQL}/fragments/sqlite/ends.sql", "@ending; DELETE FROM leases")
    plant(f"{SQL}/fragments/postgres/ends.sql", "DELETE FROM leases")
    root = plant(f"{SQL}/sqlite/runs/stop.sql", "@ends;")
    assert [line.partition(":1:")[0] for line in unused_fragments(root)] == [
        f"{SQL}/fragments/postgres/ends.sql"
    ]


def test_an_unused_and_a_missing_statement_are_found(plant: Plant) -> None:
    plant(f"{SQL}/common/queue/claim.sql", "SELECT 1")
    plant(f"{SQL}/common/executions/renew.sql", "SELECT 1")
    root = plant(
        f"{STORE}/executions.py",
        """
        async def claim(db):
            '''renew'''
            await db.fetch("claim")
            await db.execute("BEGIN IMMEDIATE")
            return statements["lost"], await db.fetch("gone", limit=1)
        """,
    )
    assert unused_statements(root) == [
        (
            f"{SQL}/common/executions/renew.sql:1: no Python in {STORE} names the statement 'renew'. "
            "Use it or delete it."
        )
    ]
    assert [line.split("'")[1] for line in missing_statements(root)] == ["lost", "gone"]


def test_a_statement_for_one_database_only_is_found(plant: Plant) -> None:
    for place in ("common/a", "postgres/a", "sqlite/b", "common/c", "postgres/c", "sqlite/c", "postgres/d"):
        dialect, _, name = place.partition("/")
        root = plant(f"{SQL}/{dialect}/queue/{name}.sql", "SELECT 1")
    found = [line.partition(":")[0].removeprefix(f"{SQL}/") for line in lonely_statements(root)]
    assert [place.replace("/queue", "") for place in found] == [
        "sqlite/b.sql",
        "common/c.sql",
        "postgres/d.sql",
    ]


def test_built_sql_is_found(plant: Plant) -> None:
    root = plant(
        "src/gnomon/store/jobs/jobs.py",
        """
        async def find(db, name, sql):
            await db.fetch("find", name=f"{name}%")
            await db.fetch(sql)
            await db.fetch(f"SELECT * FROM {name}")
            await db.execute("SELECT * FROM %s" % name)
            await db.execute("SELECT * FROM " + name)
            await db.execute("SELECT * FROM {}".format(name))
            await db.execute(" ".join(["SELECT", name]))
            query = f"SELECT {name}"
            await db.fetchrow(query)
        """,
    )
    assert [int(line.split(":")[1]) for line in built_sql(root)] == [5, 6, 7, 8, 9, 11]


def test_an_update_of_what_a_claim_may_have_picked_is_found(plant: Plant) -> None:
    plant(
        f"{SQL}/postgres/queue/pass.sql",
        "UPDATE queue SET x = 1 FROM y WHERE id = 1 AND queue.waits_for = 'slot'",
    )
    plant(f"{SQL}/sqlite/queue/sort.sql", "UPDATE queue SET priority = 1")
    root = plant(f"{SQL}/common/queue/sort.sql", "UPDATE queue SET priority = 1 WHERE waits_for IS NULL")
    assert [line.partition(":")[0] for line in queue_updates(root)] == [f"{SQL}/common/queue/sort.sql"]


def test_wrong_migrations_are_found(plant: Plant) -> None:
    folder = f"{SQL}/migrations"
    plant(f"{folder}/postgres/0001_begin.sql", "-- expand: the first tables\nSELECT 1;")
    plant(f"{folder}/sqlite/0001_begin.sql", "SELECT 1;")
    plant(f"{folder}/postgres/0003_later.sql", "-- contract: drop what no release reads")
    root = plant(f"{folder}/postgres/first.sql", "-- expand")
    found = "\n".join(wrong_migrations(root))
    assert f"{folder}/sqlite/0001_begin.sql:1: begin with" in found
    assert f"{folder}/postgres/0003_later.sql:1: sqlite has no migration of this name" in found
    assert f"{folder}/postgres/0003_later.sql:1: expected number 0002" in found
    assert f"{folder}/postgres/first.sql:1: name it NNNN_name.sql" in found


def test_a_verb_without_a_contract_is_found(plant: Plant) -> None:
    plant(f"{STORE}/jobs.py", "")
    root = plant(
        "tests/contract/test_jobs.py",
        """
        async def test_claim(store, jobs):
            await store.executions.claim()
            await jobs.get()
        """,
    )
    assert verbs_without_contract(root) == [f"{PROTOCOLS}:1: the store has modules but no protocols."]
    plant(
        f"{PROTOCOLS}/store.py",
        """
        class JobStore(Protocol):
            async def get(self): ...
        class ExecutionStore(Protocol):
            async def get(self): ...
            async def claim(self): ...
            def _secret(self): ...
        class Row:
            def get(self): ...
        class Store(Protocol):
            @property
            def jobs(self) -> JobStore: ...
            @property
            def executions(self) -> ExecutionStore: ...
            async def close(self): ...
        """,
    )
    assert [line.split(" is ")[0] for line in verbs_without_contract(root)] == [
        f"{PROTOCOLS}/store.py:5: ExecutionStore.get",
        f"{PROTOCOLS}/store.py:15: Store.close",
    ]


def statements(root: Path, folder: str) -> dict[str, str]:
    """Statement name to place, for one of common, postgres and sqlite."""
    return {path.stem: str(path.relative_to(root)) for path in sorted((root / SQL / folder).glob("*/*.sql"))}


def all_statements(root: Path) -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for folder in ("common", *DIALECTS):
        for name, place in statements(root, folder).items():
            known.setdefault(name, []).append(place)
    return known


def texts_for(root: Path, dialect: str) -> dict[str, str]:
    """Statements and fragments of a dialect without comments, by their place."""
    folders = [root / SQL / "common", root / SQL / dialect]
    folders += [root / SQL / "fragments" / folder for folder in ("common", dialect)]
    return {
        str(path.relative_to(root)): COMMENT.sub("", path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted(folder.rglob("*.sql"))
    }


def rows_written_elsewhere(root: Path) -> list[str]:
    return sorted(
        f"{place}:1: inserts into {table} by itself. Use the fragment @{fragment}: what many statements "
        "write is in one place."
        for dialect in DIALECTS
        for place, text in texts_for(root, dialect).items()
        for table, fragment in WRITTEN_ONCE.items()
        if re.search(rf"\bINSERT\s+INTO\s+{table}\b", text, re.IGNORECASE)
        and Path(place).parts[-3:]
        not in {("fragments", folder, f"{fragment}.sql") for folder in ("common", dialect)}
    )


def unused_fragments(root: Path) -> list[str]:
    found: dict[str, int] = {}
    for dialect in DIALECTS:
        texts = texts_for(root, dialect)
        used = {name for text in texts.values() for name in FRAGMENT.findall(text)}
        for place in texts:
            if f"{SQL}/fragments/" in place and Path(place).stem not in used:
                found[place] = found.get(place, 0) + 1
    # A fragment of both dialects may be used by one of them.
    return [
        f"{place}:1: no statement uses the fragment @{Path(place).stem}. Use it or delete it."
        for place, missing in found.items()
        if missing == len(DIALECTS) or "/common/" not in place
    ]


def queue_updates(root: Path) -> list[str]:
    """SQLite claims by id, and migrations hold the table."""
    update = re.compile(r"\bUPDATE\s+queue\b(.*)", re.IGNORECASE | re.DOTALL)
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("common", "postgres")
        for path in sorted((root / SQL / folder).glob("*/*.sql"))
    }
    return [
        f"{path.relative_to(root)}:1: updates rows of queue that a claim may have picked. Update them only "
        "while they wait at a gate (queue.waits_for = '...'), or delete and insert them."
        for path, text in texts.items()
        for found in update.findall(text)
        if not re.search(r"\bqueue\.waits_for = '", found)
    ]


def unused_statements(root: Path) -> list[str]:
    named = {word for source in sources(root, under=STORE) for word in literals(source)}
    return [
        f"{place}:1: no Python in {STORE} names the statement {name!r}. Use it or delete it."
        for name, places in all_statements(root).items()
        for place in places
        if name not in named
    ]


def literals(source: Source) -> set[str]:
    """String literals of a source that are values; a docstring or a lone string is not."""
    lone = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in lone
    }


def missing_statements(root: Path) -> list[str]:
    known = all_statements(root)
    return [
        f"{source.at(node)}: there is no statement {name!r} in {SQL}/common, nor in postgres and sqlite."
        for source in sources(root, under=STORE)
        for node, name in named_statements(source)
        if name not in known
    ]


def named_statements(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Names handed to a method that runs statements, or looked up in a mapping called `statements`."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=str(name)), *_]):
                if method in RUNNERS and STATEMENT_NAME.fullmatch(name):
                    yield node, name
            case ast.Subscript(value=mapping, slice=ast.Constant(value=str(name))):
                if ast.unparse(mapping).rpartition(".")[2].lstrip("_") == "statements":
                    yield node, name


def lonely_statements(root: Path) -> list[str]:
    common, postgres, sqlite = (statements(root, folder) for folder in ("common", *DIALECTS))
    found = []
    for name in sorted(common | postgres | sqlite):
        if name in common and name in postgres and name in sqlite:
            found.append(f"{common[name]}:1: both databases override it. Delete it.")
        elif name not in common and name not in sqlite:
            found.append(f"{postgres[name]}:1: SQLite has no {name!r}. Add sqlite/{name}.sql or use common.")
        elif name not in common and name not in postgres:
            found.append(
                f"{sqlite[name]}:1: PostgreSQL has no {name!r}. Add postgres/{name}.sql or use common."
            )
    return [line for line in found if line.partition(":")[0] not in LONELY_EXCEPTIONS]


def built_sql(root: Path) -> list[str]:
    return [
        f"{source.at(call)}: {function.name} runs SQL that is built from pieces. "
        "Put the statement into a file and bind the values."
        for source in sources(root)
        for function in functions(source)
        if f"{source.place}::{function.name}" not in BUILT_EXCEPTIONS
        for call in runs_built_sql(function)
    ]


def runs_built_sql(function: Function) -> Iterator[ast.Call]:
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr=method), args=[first, *_]) if method in RUNNERS:
                values = assigned.get(first.id, []) if isinstance(first, ast.Name) else [first]
                if any(is_built(value) for value in values):
                    yield node


def is_built(value: ast.expr) -> bool:
    match value:
        case ast.JoinedStr():
            return any(isinstance(part, ast.FormattedValue) for part in value.values)
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="format" | "join")):
            return True
        case _:
            return False


def wrong_migrations(root: Path) -> list[str]:
    folders = {dialect: root / SQL / "migrations" / dialect for dialect in DIALECTS}
    names = {dialect: {path.name for path in folder.glob("*.sql")} for dialect, folder in folders.items()}
    found = []
    for dialect, other in zip(DIALECTS, reversed(DIALECTS), strict=True):
        place = folders[dialect].relative_to(root)
        numbered = sorted(name for name in names[dialect] if MIGRATION.fullmatch(name))
        found += [
            f"{place}/{name}:1: name it NNNN_name.sql."
            for name in sorted(names[dialect].difference(numbered))
        ]
        found += [
            f"{place}/{name}:1: {other} has no migration of this name."
            for name in numbered
            if name not in names[other]
        ]
        found += [
            f"{place}/{name}:1: expected number {number:04}: numbers count up from 0001 without a gap."
            for number, name in enumerate(numbered, start=1)
            if int(name[:4]) != number
        ]
        found += [
            f"{place}/{name}:1: begin with a comment that says expand or contract, and what."
            for name in numbered
            if not MIGRATION_KIND.match((folders[dialect] / name).read_text(encoding="utf-8"))
        ]
    return found


def verbs_without_contract(root: Path) -> list[str]:
    """Verbs of the protocols that no contract test calls, by their noun: `store.jobs.get`, or `jobs.get`."""
    folder = root / PROTOCOLS
    if not folder.exists():
        modules = [path for path in (root / STORE).glob("*.py") if path.stem != "__init__"]
        return [f"{PROTOCOLS}:1: the store has modules but no protocols."] if modules else []
    places = {
        node: source.place
        for source in sources(root, under=PROTOCOLS)
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and "Protocol" in map(ast.unparse, node.bases)
    }
    protocols = list(places)
    nouns = dict(nouns_of(protocols))
    called = {call for source in sources(root, under="tests/contract") for call in calls_by_noun(source)}
    return [
        f"{places[protocol]}:{verb.lineno}: {protocol.name}.{verb.name} is not called in"
        f" tests/contract as {nouns.get(protocol.name, 'store')}.{verb.name}."
        for protocol in protocols
        for verb in verbs_of(protocol)
        if (nouns.get(protocol.name, "store"), verb.name) not in called
    ]


def nouns_of(protocols: list[ast.ClassDef]) -> Iterator[tuple[str, str]]:
    """How the whole store names each part: `JobStore` is `jobs`."""
    for protocol in protocols:
        for node in protocol.body:
            if isinstance(node, Function) and is_property(node) and node.returns is not None:
                yield ast.unparse(node.returns), node.name


def verbs_of(protocol: ast.ClassDef) -> Iterator[Function]:
    for node in protocol.body:
        if isinstance(node, Function) and not node.name.startswith("_") and not is_property(node):
            yield node


def is_property(node: Function) -> bool:
    return "property" in map(ast.unparse, node.decorator_list)


def calls_by_noun(source: Source) -> Iterator[tuple[str, str]]:
    for node in ast.walk(source.tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr=noun) | ast.Name(id=noun), attr=verb):
                yield noun, verb
