"""Monthly partitions of what grows without end, on PostgreSQL. SQLite has none and needs none.

An id is a UUIDv7, so a month is a range of ids: the key stays the id alone, and a month is dropped whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from gnomon.core.ids import first_id_of
from gnomon.core.retention import Month, months_between

PARTITIONED = ("executions", "endings", "attempts", "run_logs")
# Rows of a month that has no partition land in the default one, so being late loses nothing.
AHEAD = timedelta(days=62)


def partition_statements(now: datetime) -> Sequence[str]:
    """What makes the partitions of this month and of those to come. Safe to run again."""
    return [statement for month in months_between(now, now + AHEAD) for statement in _statements_for(month)]


def _statements_for(month: Month) -> Sequence[str]:
    first, end = first_id_of(month.starts), first_id_of(month.ends)
    return [
        f"CREATE TABLE IF NOT EXISTS {table}_{month} PARTITION OF {table} "
        f"FOR VALUES FROM ('{first}') TO ('{end}')"
        for table in PARTITIONED
    ]
