"""People who have workflows: they run them, stop them, mend what failed, and change their minds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import TYPE_CHECKING

from gnomon.client import Client
from gnomon.client.workflows.runs import NamedTask
from gnomon.core.jobs.job import JobId
from gnomon.core.runs.run import Run, RunId
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import GnomonError, StoreUnavailable
from proof.checker.history import events
from proof.simulator.scenarios.flows import BY_A_PERSON, EVENT, FlowSpec, document_of
from proof.simulator.scenarios.scenario import Act, Verb
from proof.simulator.seeds.flow_workload import redrawn

if TYPE_CHECKING:
    from proof.simulator.world.node import SimulatedBoot
    from proof.simulator.world.world import World

TRIES_MAX = 5
TRY_AGAIN = (0.2, 8.0)
RUNS_REMEMBERED = 10
WITHOUT_KEY = 0.4
STOPS_ONE_TASK = 0.4
_T = TaskStatus


class FlowClients:
    def __init__(self, world: World, unanswered: dict[str, tuple[str, str]]) -> None:
        self._world = world
        self._unanswered = unanswered  # Calls without an answer: who asked, and for which job.
        self._ids: dict[str, JobId] = {}
        self._specs: dict[str, FlowSpec] = {}
        self._runs: dict[str, list[RunId]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    async def make(self, client: Client) -> None:
        for spec in self._world.scenario.flows:
            dag = await client.dags.create(document_of(spec))
            self._ids[spec.name], self._specs[spec.name], self._runs[spec.name] = dag.job.id, spec, []

    async def act(self, boot: SimulatedBoot, client: Client, act: Act, chance: Random) -> None:
        match act.verb:
            case Verb.TRIGGER:
                await self._trigger(boot, client, act, chance)
            case Verb.REDEFINE:
                self._specs[act.job] = redrawn(self._specs[act.job], chance)
                await client.dags.update(self._ids[act.job], document_of(self._specs[act.job]))
            case Verb.SEND:
                await client.runs.send(EVENT, data=BY_A_PERSON)
            case _:
                if runs := self._runs[act.job]:
                    await self._look(client, act.verb, chance.choice(runs), chance)

    async def _trigger(self, boot: SimulatedBoot, client: Client, act: Act, chance: Random) -> None:
        if chance.random() < WITHOUT_KEY:
            await self._trigger_once(client, act)
        else:
            await self._trigger_surely(boot, client, act, chance)

    async def _trigger_once(self, client: Client, act: Act) -> None:
        """Who gets no answer does not ask again: it would be another run."""
        run = await client.dags.trigger(self._ids[act.job])
        self._remember(act, run)

    def _remember(self, act: Act, run: Run) -> None:
        self._runs[act.job] = [*self._runs[act.job], run.id][-RUNS_REMEMBERED:]

    async def _trigger_surely(self, boot: SimulatedBoot, client: Client, act: Act, chance: Random) -> None:
        """With a key, so that asking again is safe; until there is an answer, or patience ends."""
        recorder, job, key = self._world.recorder, str(self._ids[act.job]), f"act-{act.number}"
        recorder.write(events.SubmitInvoke, boot.source, key=key, job=job, body=key)
        self._unanswered[key] = (boot.source, job)
        for _ in range(TRIES_MAX):
            try:
                run = await client.dags.trigger(self._ids[act.job], idempotency=Idempotency(key, key))
            except StoreUnavailable:
                await asyncio.sleep(chance.uniform(*TRY_AGAIN))
                continue
            except GnomonError:
                # It may have been enqueued before something else went wrong.
                break
            del self._unanswered[key]
            recorder.write(events.SubmitOk, boot.source, key=key, job=job, run=str(run.id), body=key)
            self._remember(act, run)
            return
        del self._unanswered[key]
        recorder.write(events.SubmitInfo, boot.source, key=key, job=job, body=key)

    async def _look(self, client: Client, verb: Verb, run_id: RunId, chance: Random) -> None:
        run = await client.runs.get(run_id)
        match verb:
            case Verb.HOLD_RUN:
                await client.runs.pause(run_id)
            case Verb.LET_GO:
                await client.runs.resume(run_id)
            case Verb.STOP_RUN:
                await self._stop(client, run, chance)
            case Verb.DECIDE:
                await _decide(client, run, chance)
            case _:
                await _mend(client, run, chance)

    async def _stop(self, client: Client, run: Run, chance: Random) -> None:
        """The whole, or one of its tasks."""
        began = [task for task in await client.runs.tasks(run) if task.run.executions]
        if began and chance.random() < STOPS_ONE_TASK:
            await client.executions.cancel(chance.choice(chance.choice(began).run.executions))
        else:
            await client.runs.cancel(run.id)


async def _decide(client: Client, run: Run, chance: Random) -> None:
    held = _those(await client.runs.tasks(run), _T.HELD)
    if held:
        name = chance.choice(held)
        if chance.random() < 0.8:
            await client.runs.approve(run.id, name, by="somebody")
        else:
            await client.runs.reject(run.id, name, by="somebody")


async def _mend(client: Client, run: Run, chance: Random) -> None:
    """What a person does who looks at a run: something fit for what is there, mostly."""
    tasks = await client.runs.tasks(run)
    if names := _those(tasks, _T.HALTED):
        wish = chance.choice(("retry", "retry", "skip", "succeed", "fail"))
    elif names := _those(tasks, _T.FAILED, _T.CANCELLED):
        wish = chance.choice(("rerun_failed", "retry", "skip", "succeed"))
    elif names := [task.name for task in tasks]:
        wish = chance.choice(("rerun", "skip", "skip"))
    else:
        return
    runs, name = client.runs, chance.choice(names)
    wishes: dict[str, Callable[[], Awaitable[Run]]] = {
        "retry": lambda: runs.retry(run.id, name),
        "rerun": lambda: runs.rerun(run.id, [name]),
        "rerun_failed": lambda: runs.rerun(run.id),
        "skip": lambda: runs.skip(run.id, name),
        "succeed": lambda: runs.succeed(run.id, name, BY_A_PERSON),
        "fail": lambda: runs.fail(run.id, name),
    }
    await wishes[wish]()


def _those(tasks: Sequence[NamedTask], *statuses: TaskStatus) -> list[str]:
    return [task.name for task in tasks if task.run.state.status in statuses]
