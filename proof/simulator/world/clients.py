"""People and programs that ask for things, over the production client, and ask again when nobody answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import msgspec

from gnomon.client import Ask, Client
from gnomon.client.context import ClientContext
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.execution import ExecutionId
from gnomon.core.jobs.job import JobId
from gnomon.core.time.calendars import Calendar
from gnomon.core.values.idempotency import Idempotency
from gnomon.core.values.ids import IdSource
from gnomon.errors import GnomonError, StoreUnavailable
from gnomon.store.sql_store import SqlStore
from gnomon.testing.clock import ManualClock
from gnomon.testing.virtual.network import RemoteStore
from proof.checker.history import events
from proof.simulator.scenarios.jobs import calendar_of, draft_of
from proof.simulator.scenarios.scenario import Act, JobSpec, Verb
from proof.simulator.world.flow_clients import FlowClients
from proof.simulator.world.network import FaultyLine

if TYPE_CHECKING:
    from proof.simulator.world.node import SimulatedBoot
    from proof.simulator.world.world import World

TRIES_MAX = 5
TRY_AGAIN = (0.2, 8.0)
LATER = (5.0, 300.0)
UNIQUE_KEYS = 3
RUNS_REMEMBERED = 50
SETUP = "setup/1"


class Clients:
    def __init__(self, world: World) -> None:
        self._world = world
        self._jobs: dict[str, JobId] = {}
        self._specs: dict[str, JobSpec] = {}
        self._runs: dict[str, list[ExecutionId]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._open: dict[str, tuple[str, str]] = {}  # Calls without an answer: who asked, and for which job.
        self._flows = FlowClients(world, self._open)

    async def make_jobs(self) -> None:
        """Before anything goes wrong, so that every scenario has its jobs."""
        world = self._world
        line = FaultyLine(SETUP, SqlStore(world.database), world.chance.fork("net:setup"), 0.0)
        ids = IdSource(world.chance.fork("ids:setup"))
        client = Client(ClientContext(RemoteStore(world.network, line), ManualClock(world.now()), ids))
        for spec in world.scenario.jobs:
            calendar = calendar_of(spec, world.scenario.start)
            if calendar is not None:
                world.recorder.calendars[calendar.name] = calendar.dates
                await world.store.calendars.save(
                    Calendar(DEFAULT_TENANT, calendar.name, calendar.dates), now=world.now()
                )
            draft = draft_of(spec, world.scenario.start, self._jobs)
            job = await client.jobs.create(draft)
            self._jobs[spec.name], self._specs[spec.name] = job.id, spec
            self._runs[spec.name] = []
        await self._flows.make(client)

    def schedule(self, acts: Iterable[Act]) -> None:
        for act in acts:
            self._world.loop.call_at(act.at, self._begin, act)

    def close(self) -> None:
        """Who died with a question open does not know the answer."""
        for key, (src, job) in self._open.items():
            self._world.recorder.write(events.SubmitInfo, src, key=key, job=job)
        self._open.clear()

    def _begin(self, act: Act) -> None:
        node = self._world.nodes.get(act.client)
        if node is not None and node.boot is not None and (act.job in self._jobs or act.job in self._flows):
            boot = node.boot
            boot.within(lambda: self._tasks.append(asyncio.ensure_future(self._act(boot, act))))

    async def _act(self, boot: SimulatedBoot, act: Act) -> None:
        """Whatever goes wrong here is the answer that this client got."""
        await boot.task  # It has learned what time it is.
        chance = self._world.chance.fork(f"act:{act.number}")
        ids = IdSource(self._world.chance.fork(f"ids:{act.number}"))
        client = Client(ClientContext(boot.store, boot.clock, ids, announce=boot.hints.announce))
        try:
            if act.job in self._flows:
                await self._flows.act(boot, client, act, chance)
            else:
                await self._do(boot, client, act, chance)
        except GnomonError as error:
            self._world.recorder.seen[f"client.{type(error).__name__}"] += 1

    async def _do(self, boot: SimulatedBoot, client: Client, act: Act, chance: Random) -> None:
        job_id = self._jobs[act.job]
        match act.verb:
            case Verb.ENQUEUE | Verb.ENQUEUE_UNIQUE | Verb.ENQUEUE_LATER:
                await self._enqueue(boot, client, act, chance)
            case Verb.CANCEL_RUN:
                if runs := self._runs[act.job]:
                    await client.executions.cancel(chance.choice(runs))
            case Verb.PAUSE:
                await client.jobs.pause(job_id)
            case Verb.RESUME:
                await client.jobs.resume(job_id)
            case Verb.UPDATE:
                await self._update(client, act, chance)
            case Verb.CANCEL_JOB:
                await client.jobs.cancel(job_id)
            case Verb.REDRIVE:
                await client.dead_letters.redrive_job(job_id, limit=5)
            case _:
                raise AssertionError(f"{act.verb} is not for a job")

    async def _enqueue(self, boot: SimulatedBoot, client: Client, act: Act, chance: Random) -> None:
        """With a key, so that asking again is safe; until there is an answer, or patience ends."""
        recorder, job = self._world.recorder, str(self._jobs[act.job])
        key = f"act-{act.number}"
        unique = f"key-{chance.randrange(UNIQUE_KEYS)}" if act.verb is Verb.ENQUEUE_UNIQUE else None
        delay = timedelta(seconds=chance.uniform(*LATER)) if act.verb is Verb.ENQUEUE_LATER else None
        ask = Ask(self._jobs[act.job], delay=delay, unique_key=unique)
        recorder.write(events.SubmitInvoke, boot.source, key=key, job=job, body=key)
        self._open[key] = (boot.source, job)
        for _ in range(TRIES_MAX):
            try:
                made = await client.executions.enqueue(ask, idempotency=Idempotency(key, key))
            except StoreUnavailable:
                await asyncio.sleep(chance.uniform(*TRY_AGAIN))
                continue
            except GnomonError:
                del self._open[key]
                recorder.write(events.SubmitFail, boot.source, key=key, job=job, body=key)
                raise
            del self._open[key]
            recorder.write(events.SubmitOk, boot.source, key=key, job=job, run=str(made.id), body=key)
            self._runs[act.job] = [*self._runs[act.job], made.id][-RUNS_REMEMBERED:]
            return
        del self._open[key]
        recorder.write(events.SubmitInfo, boot.source, key=key, job=job, body=key)

    async def _update(self, client: Client, act: Act, chance: Random) -> None:
        """A job gets another schedule of the same kind, or another policy."""
        spec = self._specs[act.job]
        if spec.every is not None:
            spec = msgspec.structs.replace(spec, every=float(round(spec.every * chance.uniform(0.5, 2)) or 1))
        else:
            spec = msgspec.structs.replace(
                spec, max_attempts=chance.randint(1, 5), priority=chance.randint(0, 9)
            )
        self._specs[act.job] = spec
        draft = draft_of(spec, self._world.now(), self._jobs)
        job = await client.jobs.get(self._jobs[act.job])
        timing = job.definition.schedule if spec.every is None else draft.definition.schedule
        await client.jobs.update(job.id, definition=replace(draft.definition, schedule=timing))
