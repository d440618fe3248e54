"""Both databases hold the same tables and columns, and the conversion between them knows each of them."""

from __future__ import annotations

from pathlib import Path

from gnomon.store.databases.sqlite_values import FLAGS, IDS, TIMES
from tests.conftest import MakeDatabase
from tests.migration.grounds import gnomon
from tests.migration.shape import Column, Shape, postgres_shape, sqlite_shape

# How SQLite keeps what PostgreSQL has a type for.
KEPT_AS = {
    "uuid": "BLOB",
    "bytea": "BLOB",
    "timestamp with time zone": "INTEGER",
    "boolean": "INTEGER",
    "integer": "INTEGER",
    "smallint": "INTEGER",
    "bigint": "INTEGER",
    "double precision": "REAL",
    "jsonb": "TEXT",
    "json": "TEXT",
    "uuid[]": "TEXT",  # As JSON.
    "timestamp with time zone[]": "TEXT",
    "text": "TEXT",
}
# The same statement makes it in both, in the words of PostgreSQL.
BOOKKEEPING = "schema_migrations"
# Tables without tenant_id, and why.
WITHOUT_TENANT = {
    "tenants": "its id is the tenant",
    BOOKKEEPING: "speaks of the whole database",
    "suspect_reservations": "of a lane, which has one",
}
# Columns whose name says id, but whose type is another one: (table, column), and why.
NOT_IDS = {
    ("lanes", "id"): "a small number; statements that read it call it lane_id",
    ("workers", "id"): "a name that people choose; statements that read it call it worker_id",
    ("audit_events", "request_id"): "whatever the caller sent",
}


async def test_both_databases_have_the_same_tables_and_columns(
    migrated_database: MakeDatabase, tmp_path: Path
) -> None:
    one, other = await both(migrated_database, tmp_path)
    assert one.tables.keys() == other.tables.keys()
    different = [
        f"{table}.{name}: {column} in PostgreSQL, {other.tables[table].get(name)} in SQLite"
        for table, columns in one.tables.items()
        for name, column in columns.items()
        if table != BOOKKEEPING and not alike(column, other.tables[table].get(name))
    ]
    assert not different, "\n".join(different)
    assert {table: list(columns) for table, columns in one.tables.items()} == {
        table: list(columns) for table, columns in other.tables.items()
    }


async def test_both_databases_have_the_same_views_indexes_and_triggers(
    migrated_database: MakeDatabase, tmp_path: Path
) -> None:
    one, other = await both(migrated_database, tmp_path)
    for kind in ("view", "trigger"):
        assert names(one, kind) == names(other, kind)
    # The indexes that we named; constraints name theirs as they like, and partitions have copies.
    assert names(other, "index") <= names(one, "index")
    ours = {name for name in names(one, "index") if not name.endswith(("_pkey", "_key", "_idx"))}
    # SQLite runs little at a time and reads all leases faster than it would keep an index on them.
    assert ours - {"leases_until"} == names(other, "index")


async def test_views_have_the_same_columns_in_both(migrated_database: MakeDatabase, tmp_path: Path) -> None:
    one, other = await both(migrated_database, tmp_path)
    for view in names(one, "view"):
        assert columns_of(one, view) == columns_of(other, view)


async def test_the_conversion_knows_every_id_time_and_flag(migrated_database: MakeDatabase) -> None:
    shape = await postgres_shape(await migrated_database())
    wrong = [
        f"{table}.{name} is {column.type}, but sqlite.py has {name} "
        + ("in" if name in known else "not in")
        + f" {title}"
        for table, columns in shape.tables.items()
        for name, column in columns.items()
        for title, known, meant in (
            ("IDS", IDS, "uuid"),
            ("TIMES", TIMES, "timestamp with time zone"),
            ("FLAGS", FLAGS, "boolean"),
        )
        if (table, name) not in NOT_IDS and (name in known) != (column.type == meant)
    ]
    assert not wrong, "\n".join(wrong)


async def test_every_table_has_its_tenant(migrated_database: MakeDatabase) -> None:
    shape = await postgres_shape(await migrated_database())
    for table, columns in shape.tables.items():
        if table in WITHOUT_TENANT:
            assert "tenant_id" not in columns, f"{table} has a tenant now; remove the exception."
        else:
            assert columns["tenant_id"] == Column("uuid", required=True, preset=None), table


async def both(migrated_database: MakeDatabase, folder: Path) -> tuple[Shape, Shape]:
    path = folder / "gnomon.db"
    assert gnomon("db", "migrate", "--database", str(path)).returncode == 0
    return await postgres_shape(await migrated_database()), sqlite_shape(path)


def alike(column: Column, other: Column | None) -> bool:
    if other is None or KEPT_AS[column.type] != other.type or column.required != other.required:
        return False
    return plain(column.preset) == plain(other.preset)


def plain(preset: str | None) -> str | None:
    """A default without its type: '[]'::jsonb and '[]' are the same, and so are false and 0."""
    if preset is None:
        return None
    return {"false": "0", "true": "1"}.get(preset, preset.partition("::")[0])


def names(shape: Shape, kind: str) -> set[str]:
    return {
        name.removeprefix(f"{kind} ")
        for name in shape.texts
        if name.startswith(f"{kind} ") and "sqlite_autoindex" not in name
    }


def columns_of(shape: Shape, relation: str) -> list[str]:
    return [name for owner, name in shape.columns if owner == relation]
