"""Monthly partitions of what grows without end, on PostgreSQL. SQLite has none and needs none.

An id is a UUIDv7, so a month is a range of ids: the key stays the id alone, and a month is dropped whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from gnomon.core.executions.retention import Month, months_between
from gnomon.core.values.ids import first_id_of

PARTITIONED = ("executions", "endings", "attempts", "run_logs")
# Rows of a month that has no partition land in the default one, so being late loses nothing.
AHEAD = timedelta(days=62)

_NAME = re.compile(rf"{PARTITIONED[0]}_(\d{{4}})_(\d\d)")


def partition_statements(now: datetime) -> Mapping[str, str]:
    """What makes the partitions of this month and of those to come, by their names. Safe to run again."""
    return {
        name: statement
        for month in months_between(now, now + AHEAD)
        for name, statement in statements_for(month).items()
    }


def statements_for(month: Month) -> Mapping[str, str]:
    first, end = first_id_of(month.starts), first_id_of(month.ends)
    return {
        f"{table}_{month}": f"CREATE TABLE IF NOT EXISTS {table}_{month} PARTITION OF {table} "
        f"FOR VALUES FROM ('{first}') TO ('{end}')"
        for table in PARTITIONED
    }


def drop_statement(month: Month) -> str:
    return "DROP TABLE IF EXISTS " + ", ".join(f"{table}_{month}" for table in PARTITIONED)


def month_of_partition(name: str) -> Month | None:
    """The month of a partition of executions, which every month has; None for any other table."""
    found = _NAME.fullmatch(name)
    return Month(int(found[1]), int(found[2])) if found else None
