"""Time, chance and ids come in as values. Only the clock module reads a clock."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import PROOF, ROOT, Source, must_be_empty, sources, stale

WITHOUT_AMBIENCE = [
    "src/gnomon/core", "src/gnomon/store", "src/gnomon/engine", "src/gnomon/testing/virtual",
    "proof/checker", "proof/simulator",
]  # fmt: skip

# Places that may read the world, and why.
HOMES = {
    "src/gnomon/engine/clock.py": "the one place that reads the clock and hands it on as a value",
    "proof/simulator/__main__.py": "draws the first seed, and tells how long the worlds took",
    "proof/simulator/judging/many_worlds.py": "measures what a world costs, outside of it",
}

AMBIENT = re.compile(
    r"""
      datetime\.datetime\.(now|utcnow|today)
    | datetime\.date\.today
    | time\.(time|monotonic|perf_counter|process_time)(_ns)?
    | time\.(sleep|localtime|gmtime|ctime|asctime)
    | random\.(?!Random\b)\w+
    | uuid\.(uuid\d|getnode)
    | secrets\.\w+
    | os\.(urandom|getpid|getenv|environ|uname|getrandom)
    | socket\.(gethostname|getfqdn)
    | platform\.node
    """,
    re.VERBOSE,
)

# SQL statements that may read the database's clock or dice, and why.
SQL_EXCEPTIONS: dict[str, str] = {
    "src/gnomon/store/sql/postgres/operations/clock.sql": "what engine/clock.py asks, so that machines agree",
    "src/gnomon/store/sql/sqlite/operations/clock.sql": "the same verb on the other database",
    "proof/campaign/harvest/events.sql": "triggers of a campaign, which note when a transaction wrote",
}

AMBIENT_SQL = re.compile(
    r"""
      \b(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(
    | \b(random|random_normal|randomblob|gen_random_uuid|gen_random_bytes)\s*\(
    | \b(uuidv4|uuidv7|uuid_generate_v\w+)\s*\(
    | \b(unixepoch|julianday|datetime|date|time)\s*\(\s*\)
    | \bcurrent_(timestamp|time|date)\b
    | \blocaltime(stamp)?\b
    | '\s*now\s*'
    """,
    re.VERBOSE | re.IGNORECASE,
)


def test_time_chance_and_ids_come_in_as_values() -> None:
    must_be_empty(ambient_names(ROOT))


def test_sql_never_reads_a_clock_or_rolls_dice() -> None:
    must_be_empty(ambient_sql(ROOT))


def test_the_homes_of_the_world_still_exist() -> None:
    must_be_empty(stale(ROOT, HOMES, listed_in=__file__))


def test_the_exceptions_for_sql_still_exist() -> None:
    must_be_empty(stale(ROOT, SQL_EXCEPTIONS, listed_in=__file__))


def test_ambient_python_is_found(plant: Plant) -> None:
    plant("src/gnomon/engine/clock.py", "import time\nnow = time.time\n")
    root = plant(
        "src/gnomon/core/values/ids.py",
        """
        import datetime as dt
        import time
        from datetime import UTC, datetime
        from random import Random, uniform
        from uuid import UUID, uuid4
        seeded = Random(7)
        fine = datetime.fromtimestamp(0, UTC), UUID(int=0), seeded.random()
        one = datetime.now(UTC)
        two = dt.datetime.now(UTC)
        three = uniform(0, 1)
        def four(clock=time.monotonic): ...
        five = uuid4()
        six = Random()
        """,
    )
    assert sorted(int(line.split(":")[1]) for line in ambient_names(root)) == [9, 10, 11, 12, 13, 14]


def test_ambient_sql_is_found(plant: Plant) -> None:
    root = plant(
        "src/gnomon/store/sql/sqlite/queue/claim.sql",
        """\
        -- now() in a comment is fine, and so is a column named created_now.
        SELECT id, created_now FROM queue WHERE due <= :now
        UPDATE a SET b = NOW ( )
        UPDATE a SET b = CURRENT_TIMESTAMP
        UPDATE a SET b = datetime('now')
        UPDATE a SET b = uuidv7()
        UPDATE a SET b = random()
        """,
    )
    assert [int(line.split(":")[1]) for line in ambient_sql(root)] == [3, 4, 5, 6, 7]


def ambient_names(root: Path) -> list[str]:
    """Uses of names that read a clock, roll dice or look at the machine; by call or as a value."""
    return [
        f"{source.at(node)}: {name} reads the world. Take the value, a Clock or a Random as an argument."
        for under in WITHOUT_AMBIENCE
        for source in sources(root, under=under)
        if source.place not in HOMES
        for node, name in ambient_uses(source)
    ]


def ambient_uses(source: Source) -> Iterator[tuple[ast.AST, str]]:
    known = origins(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute | ast.Name):
            name = full_name(node, known)
            if name and AMBIENT.fullmatch(name):
                yield node, name
        elif isinstance(node, ast.Call) and not node.args and full_name(node.func, known) == "random.Random":
            yield node, "random.Random() without a seed"


def origins(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for: `dt` for `datetime`, `uuid4` for `uuid.uuid4`."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return known


def full_name(node: ast.expr, known: dict[str, str]) -> str | None:
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=value, attr=attribute):
            owner = full_name(value, known)
            return f"{owner}.{attribute}" if owner else None
        case _:
            return None


def ambient_sql(root: Path) -> list[str]:
    """Lines of SQL, comments aside, that read the database's clock or make up a value."""
    return [
        f"{path.relative_to(root)}:{number}: {found[0].strip()!r} makes up a value. Bind it as a parameter."
        for path in sorted([*(root / "src").rglob("*.sql"), *(root / PROOF).rglob("*.sql")])
        if str(path.relative_to(root)) not in SQL_EXCEPTIONS
        for number, line in enumerate(
            without_comments(path.read_text(encoding="utf-8")).splitlines(), start=1
        )
        if (found := AMBIENT_SQL.search(line))
    ]


def without_comments(sql: str) -> str:
    """The same lines without comments. A block comment leaves its line ends behind."""
    sql = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), sql, flags=re.DOTALL)
    return re.sub(r"--[^\n]*", "", sql)
