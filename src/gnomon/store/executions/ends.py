"""What workers and the reaper decide about executions in workers' hands: written, and answered per claim."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from gnomon.core.executions.decisions import Decision
from gnomon.core.executions.execution import AttemptOutcome
from gnomon.core.executions.lease import Claim, ClaimRequest
from gnomon.core.runs.write_set import WorkerClaim, WriteSet
from gnomon.store.databases.database import Database, Rows
from gnomon.store.databases.rows import is_possible
from gnomon.store.jobs.revisions import Revisions
from gnomon.store.protocols.changes import Applied, Handover
from gnomon.store.queue.claimed import Hold
from gnomon.store.queue.gates import Gates
from gnomon.store.writes.writer import Writer
from gnomon.store.writes.written import WRITTEN, Written

_CLAIM = itemgetter(0)


class EndTasks(Protocol):
    """See TaskEnds."""

    async def __call__(
        self, decisions: Sequence[Decision], *, now: datetime, claim: WorkerClaim | None = None
    ) -> Written: ...


@dataclass(frozen=True, slots=True)
class ExecutionEnds:
    database: Database
    writer: Writer
    end_tasks: EndTasks
    gates: Gates
    revisions: Revisions

    async def apply(self, decisions: Sequence[Decision], *, now: datetime) -> Sequence[Applied]:
        return (await self._apply(decisions, None, now=now))[0] if decisions else []

    async def apply_and_claim(
        self, decisions: Sequence[Decision], request: ClaimRequest, *, now: datetime, lease_until: datetime
    ) -> Handover:
        claim = WorkerClaim(request, now, lease_until)
        answers, written = await self._apply(decisions, claim, now=now)
        leased = await self.revisions.claimed(written.claimed, Hold(request.worker, now, lease_until))
        return Handover(answers, leased or None, written.may_be_more)

    async def settled(self, claims: Sequence[Claim]) -> Mapping[Claim, AttemptOutcome]:
        found = await self._settled(claims) if claims else {}
        return {claim: AttemptOutcome(outcome) for claim, outcome in found.items()}

    async def _apply(
        self, decisions: Sequence[Decision], claim: WorkerClaim | None, *, now: datetime
    ) -> tuple[Sequence[Applied], Written]:
        first = _first(decisions)
        tasks = [one for one in first if one.in_run]
        plain = [one for one in first if not one.in_run] if tasks else first
        written = await self.writer.write(WriteSet(now, plain)) if plain else WRITTEN
        refused = set(written.refused)
        if refused:
            unsaid = await self._unsaid_tasks(plain, refused)
            tasks += unsaid
            refused.difference_update(one.claim for one in unsaid)
        of_tasks = await self.end_tasks(tasks, now=now, claim=claim) if tasks else WRITTEN
        if of_tasks.refused:
            refused.update(await self._apply_alone(tasks, of_tasks.refused, now=now))
        if written.watched:
            await self.gates.admit_after(written.watched, now=now)
        if not refused and len(first) == len(decisions):
            return [Applied.APPLIED] * len(decisions), of_tasks
        return await self._answers(decisions, refused), of_tasks

    async def _apply_alone(
        self, tasks: Sequence[Decision], refused: Collection[Claim], *, now: datetime
    ) -> Collection[Claim]:
        """A task that an earlier release redrove by itself is in no run."""
        again = [one._replace(in_run=False) for one in tasks if one.claim in refused]
        return (await self.writer.write(WriteSet(now, again))).refused

    async def _unsaid_tasks(self, asked: Sequence[Decision], refused: Collection[Claim]) -> list[Decision]:
        """Those that were refused because they are of tasks, which the caller did not say."""
        rows = await self.database.read("claims_in_runs", held_rows(refused))
        found = {Claim(row["execution_id"], row["claim"]) for row in rows}
        return [one._replace(in_run=True) for one in asked if one.claim in found] if found else []

    async def _answers(self, decisions: Sequence[Decision], refused: Collection[Claim]) -> Sequence[Applied]:
        settled = await self._settled([decision.claim for decision in decisions])
        spent = {claim for claim, *_ in decisions if claim in refused or not is_possible(claim)}
        answers = []
        for claim, change, _ in decisions:
            if claim not in spent:
                answers.append(Applied.APPLIED)
                spent.add(claim)
            elif settled.get(claim) == change.attempt:
                answers.append(Applied.REPLAYED)
            else:
                answers.append(Applied.LOST)
        return answers

    async def _settled(self, claims: Sequence[Claim]) -> Mapping[Claim, str]:
        rows = await self.database.read("settled", held_rows(claims))
        return {Claim(row["execution_id"], row["claim"]): row["attempt"] for row in rows}


def held_rows(claims: Collection[Claim]) -> Rows:
    """In the order of ids, so that two batches cannot wait for each other."""
    possible = sorted({(claim.execution_id, claim.number) for claim in claims if is_possible(claim)})
    return Rows("held", ("execution_id", "claim"), possible)


def _first(decisions: Sequence[Decision]) -> list[Decision]:
    """A claim is spent by its first decision; a second one in the same batch is a late one.

    In the order of ids, so that two batches cannot wait for each other.
    """
    by_claim = groupby(sorted(decisions, key=_CLAIM), key=_CLAIM)
    return [next(same) for claim, same in by_claim if is_possible(claim)]
