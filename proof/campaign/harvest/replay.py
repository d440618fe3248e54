"""Every attempt that ever was comes back after the end and says that it succeeded."""

from __future__ import annotations

from collections import Counter

import asyncpg

from gnomon.app import open_store
from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome, ExecutionId, ExecutionStatus
from gnomon.core.executions.lease import Claim
from gnomon.core.executions.lifecycle import Change
from gnomon.engine.clock import StoreClock
from gnomon.store.protocols.changes import Applied

BATCH = 500
CLAIMS_MAX = 50_000
DONE = Change(ExecutionStatus.COMPLETED, AttemptOutcome.COMPLETED, 1)
CLAIMS = """
SELECT (facts ->> 'execution_id')::uuid AS run, (facts ->> 'claim')::integer AS token
FROM campaign_events JOIN endings ON endings.execution_id = (facts ->> 'execution_id')::uuid
WHERE what = 'claim' ORDER BY number DESC LIMIT $1
"""


async def replay(dsn: str) -> Counter[Applied]:
    """How the store answered. `applied` would be a stale write that was accepted."""
    connection = await asyncpg.connect(dsn)
    rows = await connection.fetch(CLAIMS, CLAIMS_MAX)
    await connection.close()
    store = await open_store(dsn)
    clock = StoreClock(store.clock)
    await clock.learn()
    answers: Counter[Applied] = Counter()
    for first in range(0, len(rows), BATCH):
        claims = [Claim(ExecutionId(row["run"]), row["token"]) for row in rows[first : first + BATCH]]
        decided = [Decision(claim, DONE) for claim in claims]
        answers.update(await store.executions.apply(decided, now=clock.now()))
    await store.close()
    return answers
