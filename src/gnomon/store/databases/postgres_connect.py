"""How to reach PostgreSQL: its address, a connection for our statements, and instants on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg

from gnomon.errors import InvalidInput

# Queues are empty when statistics are taken and full when plans are used. A plan that was right for the
# empty table, a sequential scan, is kept and then reads every dead row. All our statements are meant for
# indexes, so a session rules the rest out. Behind a pooler plans are not kept, and settings not sent.
PLANNER_SETTINGS: Final = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
}
STATEMENT_TIMEOUT = timedelta(seconds=30)
CONNECT_TIMEOUT = timedelta(seconds=10)
# From when PostgreSQL counts microseconds.
_EPOCH: Final = datetime(2000, 1, 1, tzinfo=UTC)


async def connect_for_statements(dsn: str, *, is_pooled: bool) -> asyncpg.Connection:
    connection = await asyncpg.connect(
        dsn,
        command_timeout=STATEMENT_TIMEOUT.total_seconds(),
        timeout=CONNECT_TIMEOUT.total_seconds(),
        # Behind a transaction pooler, a statement prepared on one server is unknown to the next.
        statement_cache_size=0 if is_pooled else 1024,
        target_session_attrs="read-write",
        server_settings={} if is_pooled else PLANNER_SETTINGS,
    )
    try:
        # asyncpg makes each instant anew, for 1.5 us. A batch has few different ones, and remembered they
        # cost a tenth of that.
        await connection.set_type_codec(
            "timestamptz", schema="pg_catalog", encoder=_sent, decoder=_instant, format="tuple"
        )
    except BaseException:
        connection.terminate()
        raise
    return connection


@lru_cache(maxsize=4096)
def _instant(sent: tuple[int]) -> datetime:
    return _EPOCH + timedelta(microseconds=sent[0])


def _sent(instant: datetime) -> tuple[int]:
    return ((instant - _EPOCH) // timedelta(microseconds=1),)


def split_pooler(url: str) -> tuple[str, bool]:
    """Take our own `pooler=transaction` out of a URL, since PostgreSQL would not know it."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidInput("database", f"is no address that can be read: {error}.") from error
    query = parse_qsl(parts.query, keep_blank_values=True)
    modes = [value for name, value in query if name == "pooler"]
    if any(mode != "transaction" for mode in modes):
        raise InvalidInput("database", f"pooler={modes[-1]!r} is unknown; 'transaction' is the one there is.")
    rest = urlencode([(name, value) for name, value in query if name != "pooler"])
    return urlunsplit(parts._replace(query=rest)), bool(modes)
