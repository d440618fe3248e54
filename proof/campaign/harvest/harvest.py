"""The final read: what the store kept, and what it wrote down about how it came to be so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from gnomon.core.jobs.job import Job
from gnomon.store.databases.rows import job_of
from proof.campaign import clock
from proof.campaign.harvest.flow_harvest import Facts, FlowHarvest, Revisions, Word
from proof.checker.history import events
from proof.checker.history.events import Event
from proof.simulator.recording.told import sched_set

STORE = "store"
READER = "reader"
BATCH = 5000
TRIGGERS = Path(__file__).with_name("events.sql")  # What writes it down, in the transaction that does it.
IN_ORDER = Path(__file__).with_name("events_in_order.sql").read_text(encoding="utf-8")
AGAIN: Mapping[str, type[events.Change]] = {
    "FAILED": events.Failed,
    "TIMEOUT": events.Failed,
    "EXPIRED": events.Expired,
    "RELEASED": events.Released,
    "SNOOZED": events.Released,
}
_WITH_TX = (events.OfDag, events.DagStart, events.DagRelease, events.DagEnd, events.Ending)
_INSTANTS = ("next_run_time", "last_run_time", "anchor", "created_at", "updated_at")


@dataclass
class Harvest:
    """Turns the rows of `campaign_events` into events of a history."""

    keys: Mapping[str, str]  # By run, the key that it was asked for with.
    dead: Mapping[str, str]  # By run, why it was given up.
    redriven: Mapping[str, str]  # By run, the one it does again.
    revisions: Revisions
    flows: FlowHarvest
    decided: Mapping[tuple[str, int], datetime]  # By run and token, when its worker decided.
    _n: int = 0
    _versions: Counter[str] = field(default_factory=Counter)

    def event(self, row: Any) -> Event:
        facts: Facts = json.loads(row["facts"])
        make, fields = self._words[row["what"]](facts, row["who"])
        if issubclass(make, _WITH_TX):
            fields |= {"tx": row["tx"], "committed": row["committed"]}
        return self._made(make, fields, row["at"])

    def definitions(self) -> Iterator[Event]:
        for make, fields in self.flows.defined():
            yield self._made(make, fields, fields.get("since"))

    def _made(self, make: type[Event], fields: Facts, at: datetime | None) -> Event:
        self._n += 1
        return make(src=STORE, n=self._n, db=at, **fields)

    @property
    def _words(self) -> Mapping[str, Callable[[Facts, str], Word]]:
        return {
            "job": self._job,
            "skip": self._skip,
            "born": self._born,
            "claim": self._claim,
            "beat": self._beat,
            "stop": lambda facts, who: (events.CancelOk, self._of(facts["execution_id"])),
            "attempt": self._attempt,
            "ending": self._ending,
            "shard": self._shard,
            "run": self._run,
            "run_stop": lambda facts, who: (events.DagAct, {"dag": facts["id"], "act": "cancel"}),
            "run_hold": self._hold,
            "task": lambda facts, who: self.flows.moved(facts),
        }

    def _of(self, run: str) -> Facts:
        self._versions[run] += 1
        return {"run": run, "v": self._versions[run]}

    def _job(self, facts: Facts, who: str) -> Word:
        row = {**self.revisions[facts["id"], facts["revision"]], **facts}
        row |= {name: _instant(facts[name]) for name in _INSTANTS}
        job: Job = job_of(row)
        return events.SchedSet, sched_set(job, since=job.updated_at, closed=())

    def _skip(self, facts: Facts, who: str) -> Word:
        due, recorded = _at(facts["nominal_time"]), _at(facts["recorded_at"])
        return events.Skip, {
            "job": facts["job_id"],
            "rev": facts["revision"],
            "due": due,
            "until": _at(facts["nominal_until"]),
            "count": facts["count"],
            "why": facts["reason"],
            "late": (recorded - due).total_seconds(),
            "anchor": _instant(facts["anchor"]),
        }

    def _born(self, facts: Facts, who: str) -> Word:
        run = facts["id"]
        fields = self._of(run) | {
            "job": facts["job_id"],
            "rev": facts["revision"],
            "run_at": _at(facts["due"]),
            "priority": facts["priority"],
        }
        if facts["dag_run_id"] is not None:
            make, said = self.flows.released(facts)
            return make, fields | said
        if facts["trigger"] == "schedule":
            due = _at(facts["nominal_time"])
            late = (_at(facts["created_at"]) - due).total_seconds()
            return events.Fire, fields | {"due": due, "late": late}
        return events.Enqueue, fields | {"key": self.keys.get(run), "rerun_of": self.redriven.get(run)}

    def _claim(self, facts: Facts, who: str) -> Word:
        name, _, boot = who.partition("/")
        return events.Claim, self._of(facts["execution_id"]) | {
            "attempt": facts["attempts"] + 1,
            "token": facts["claim"],
            "worker": name,
            "boot": int(boot),
            "req": facts["request_id"],
            "lease_until": _at(facts["lease_until"]),
        }

    def _beat(self, facts: Facts, who: str) -> Word:
        fields = {"token": facts["claim"], "lease_until": _at(facts["lease_until"])}
        return events.Beat, self._of(facts["execution_id"]) | fields

    def _attempt(self, facts: Facts, who: str) -> Word:
        outcome = facts["outcome"]
        return AGAIN[outcome], self._of(facts["execution_id"]) | {
            "token": facts["claim"],
            "next_at": _at(facts["next_at"]),
            "at": self.decided.get((facts["execution_id"], facts["claim"])),
            "kind": facts["failure_kind"],
            "why": outcome.lower(),
        }

    def _ending(self, facts: Facts, who: str) -> Word:
        run, outcome = facts["execution_id"], facts["outcome"]
        if self.flows.is_run(run):
            return events.DagEnd, self._of(run) | {"state": outcome}
        fields = self._of(run) | {"kind": facts["failure_kind"]}
        if facts["last_attempt"] is not None:
            fields["token"] = facts["claim"]
        if outcome == "COMPLETED":
            return events.Done, fields
        if outcome == "CANCELLED":
            return events.Cancelled, fields
        why = self.dead.get(run)
        make = events.Abandoned if why == "abandoned" else events.Dead
        return make, fields | {"why": why}

    def _run(self, facts: Facts, who: str) -> Word:
        make, said = self.flows.started(facts)
        return make, self._of(facts["id"]) | said

    def _hold(self, facts: Facts, who: str) -> Word:
        return events.DagAct, {"dag": facts["id"], "act": "pause" if facts["is_paused"] else "resume"}

    def _shard(self, facts: Facts, who: str) -> Word:
        return events.Elect, {
            "scope": f"shard {facts['shard']}",
            "who": who,
            "term": facts["term"],
            "expires": _at(facts["expires_at"]),
        }


async def harvest(dsn: str, decided: Mapping[tuple[str, int], datetime]) -> AsyncIterator[Event]:
    """All of the store's events, then what it kept."""
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            reader = await _reader(connection, decided)
            for event in reader.definitions():
                yield event
            async for row in connection.cursor(IN_ORDER, prefetch=BATCH):
                yield reader.event(row)
            for event in await _kept(connection, reader.keys):
                yield event
    finally:
        await connection.close()


async def _reader(connection: asyncpg.Connection, decided: Mapping[tuple[str, int], datetime]) -> Harvest:
    answers = await connection.fetch("SELECT key, answer FROM idempotency_keys")
    letters = await connection.fetch("SELECT execution_id, reason, redriven_as FROM dead_letters")
    rows = await connection.fetch("SELECT * FROM job_revisions")
    revisions = {(str(row["job_id"]), row["revision"]): dict(row) for row in rows}
    flows = await connection.fetch("SELECT dag_id, base, definition, created_at FROM dag_revisions")
    return Harvest(
        keys={run: row["key"] for row in answers for run in json.loads(row["answer"])},
        dead={str(row["execution_id"]): row["reason"] for row in letters},
        redriven={str(row["redriven_as"]): str(row["execution_id"]) for row in letters if row["redriven_as"]},
        revisions=revisions,
        flows=FlowHarvest(flows, revisions),
        decided=decided,
    )


async def _kept(connection: asyncpg.Connection, keys: Mapping[str, str]) -> list[Event]:
    rows = await connection.fetch(
        "SELECT id, job_id, CASE WHEN is_waiting THEN 'waiting' WHEN is_leased THEN 'running'"
        " ELSE outcome END AS state FROM current_executions"
    )
    wall = clock.now().wall
    kept: list[Event] = [
        events.Kept(
            src=READER,
            n=number,
            wall=wall,
            run=str(row["id"]),
            key=keys.get(str(row["id"])),
            job=str(row["job_id"]),
            state=row["state"],
        )
        for number, row in enumerate(rows, start=1)
    ]
    return [*kept, events.Read(src=READER, n=len(kept) + 1, wall=wall, kept=len(kept))]


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else _at(text)
