"""Programs that ask for work over HTTP, and ask again when nobody answers, until they know."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from gnomon.core.jobs.job import JobId
from proof.campaign.workload.workload import Work
from proof.checker.history import events
from proof.checker.history.files import History

PATIENCE = 12.0  # Seconds that an answer may take, before it counts as lost.
TRY_AGAIN = 0.3
LOOKS = 0.1  # A part of what was acknowledged is looked for at once, through any node.
REPEATS = 0.05  # A part is sent again with the same key and other words, which must be refused.
NONSENSE = 0.02  # A part is sent with words that nobody accepts, first.
CANCELS = {"unwanted": (0.5, 6.0), "long": (1.0, 30.0), "plain": (0.0, 0.02)}
CANCEL_CHANCE = {"unwanted": 1.0, "long": 0.1, "plain": 0.05}
PAUSED_SECONDS = 4.0
CHORES_EVERY = 15.0
FLOWS = 0.04  # A part of what is asked for are runs of workflows.
FLOW_CANCEL = (0.15, 0.0, 15.0)  # The chance, and when.
FLOW_HOLD = (0.15, 0.0, 8.0)
OUT_OF_RANGE = {"priority": 99}
OTHER_WORDS = {"priority": 9}
REFUSED, UNKNOWN, CONFLICT, BUSY = 400, 404, 409, 500


class NoAnswer(Exception):
    """Nobody answered, or somebody said that it is not possible now. It may have happened all the same."""


@dataclass
class Client:
    """`servers` are the nodes of the API by name; each call goes to one of them, whichever comes next."""

    name: str
    servers: Mapping[str, str]
    key: str
    history: History
    jobs: Mapping[str, JobId]
    works: Sequence[Work]
    flows: Sequence[str]
    random: Random
    rate: float  # Questions a second.
    acknowledged: int = 0
    unanswered: int = 0
    _http: httpx.AsyncClient = field(init=False)
    _later: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        self._http = httpx.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False)

    async def ask_until(self, enough: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            number = 0
            chores = asyncio.create_task(self._chores(enough))
            while not enough.is_set():
                await asyncio.sleep(self.random.expovariate(self.rate))
                number += 1
                asks = self._submit_flow if self.random.random() < FLOWS else self._submit
                group.create_task(asks(f"{self.name}-{number}"))
            await chores
        await asyncio.gather(*self._later, return_exceptions=True)

    async def close(self) -> None:
        await self._http.aclose()

    # One call ------------------------------------------------------------------------------------------

    async def _call(
        self, method: str, path: str, *, via: str | None = None, key: str | None = None, body: Any = None
    ) -> httpx.Response:
        """What a node answered, good or bad. Raises NoAnswer."""
        headers = {} if key is None else {"Idempotency-Key": key}
        url = self.servers[via or self.random.choice(list(self.servers))]
        try:
            async with asyncio.timeout(PATIENCE):
                answer = await self._http.request(method, f"{url}{path}", json=body, headers=headers)
        except (httpx.TransportError, TimeoutError) as error:
            raise NoAnswer(str(error)) from error
        if answer.status_code >= BUSY:
            raise NoAnswer(answer.text)
        return answer

    # Asking for work -----------------------------------------------------------------------------------

    async def _submit(self, key: str) -> None:
        """With a key, so that asking again is safe; until there is an answer."""
        work = self.random.choices(self.works, [work.share for work in self.works])[0]
        name = work.draft.name
        if self.random.random() < NONSENSE:
            await self._be_refused(f"{key}-nonsense", name, OUT_OF_RANGE, REFUSED)
        told = {"key": key, "job": str(self.jobs[name]), "body": name}
        run = await self._asked(told, f"/v1/jobs/{told['job']}/trigger", "execution_id")
        if self.random.random() < LOOKS:
            await self._look(run)
        if self.random.random() < REPEATS:
            await self._be_refused(key, name, OTHER_WORDS, CONFLICT)
        if self.random.random() < CANCEL_CHANCE.get(name, 0.0):
            later = asyncio.create_task(self._cancel(run, self.random.uniform(*CANCELS[name])))
            self._later.add(later)

    async def _submit_flow(self, key: str) -> None:
        name = self.random.choice(self.flows)
        told = {"key": key, "job": str(self.jobs[name]), "body": name}
        run = await self._asked(told, f"/v1/dags/{told['job']}/trigger", "dag_run_id")
        for acts, (chance, *when) in ((("cancel",), FLOW_CANCEL), (("pause", "resume"), FLOW_HOLD)):
            if self.random.random() < chance:
                delay = self.random.uniform(*when)
                self._later.add(asyncio.create_task(self._act(run, acts, delay)))

    async def _act(self, run: str, acts: Sequence[str], delay: float) -> None:
        for act in acts:
            await asyncio.sleep(delay)
            await self._insist(f"/v1/dag-runs/{run}/{act}")

    async def _asked(self, told: Mapping[str, str], path: str, answer: str) -> str:
        self.history.write(events.SubmitInvoke, **told)
        run = await self._answered(told, path, answer)
        self.acknowledged += 1
        self.history.write(events.SubmitOk, run=run, **told)
        return run

    async def _answered(self, told: Mapping[str, str], path: str, name: str) -> str:
        while True:
            try:
                answer = await self._call("POST", path, key=told["key"], body={})
                answer.raise_for_status()
            except NoAnswer:
                self.unanswered += 1
                self.history.write(events.SubmitInfo, **told)
                await asyncio.sleep(TRY_AGAIN)
            else:
                run: str = answer.json()[name]
                return run

    async def _be_refused(self, key: str, name: str, body: Any, status: int) -> None:
        """Accepted words would be told as accepted, and the checker would see two bodies, or one too many."""
        told = {"key": key, "job": str(self.jobs[name]), "body": f"{name} {body}"}
        self.history.write(events.SubmitInvoke, **told)
        try:
            answer = await self._call("POST", f"/v1/jobs/{told['job']}/trigger", key=key, body=body)
        except NoAnswer:
            return  # Refused or not reached: in either case it must not exist.
        if answer.status_code == status:
            self.history.write(events.SubmitFail, **told)
        else:
            answer.raise_for_status()
            self.history.write(events.SubmitOk, run=answer.json()["execution_id"], **told)

    async def _look(self, run: str) -> None:
        via = self.random.choice(list(self.servers))
        with suppress(NoAnswer):
            answer = await self._call("GET", f"/v1/executions/{run}", via=via)
            self.history.write(events.Look, run=run, found=answer.status_code != UNKNOWN, via=via)

    async def _cancel(self, run: str, delay: float) -> None:
        await asyncio.sleep(delay)
        with suppress(NoAnswer):
            await self._call("POST", f"/v1/executions/{run}/cancel")

    # What people do ------------------------------------------------------------------------------------

    async def _chores(self, enough: asyncio.Event) -> None:
        """Pause a job for a moment, send dead letters back."""
        paused, hopeless = self.jobs["cron-FIRE_NOW"], self.jobs["hopeless"]
        while not enough.is_set():
            await asyncio.sleep(CHORES_EVERY * self.random.uniform(0.5, 1.5))
            for verb in ("pause", "resume"):
                await self._insist(f"/v1/jobs/{paused}/{verb}")
                await asyncio.sleep(PAUSED_SECONDS)
            await self._insist("/v1/dlq/redrive", {"job_id": str(hopeless), "limit": 2}, tries=1)
            await self._give_up_paused(self.random.choice(self.flows))

    async def _give_up_paused(self, flow: str) -> None:
        """Somebody is asked about a failed task, and has no time."""
        with suppress(NoAnswer):
            answer = await self._call("GET", f"/v1/dags/{self.jobs[flow]}/runs?limit=20")
            answer.raise_for_status()
            for run in answer.json()["runs"]:
                if run["status"] == "PAUSED":
                    await self._call("POST", f"/v1/dag-runs/{run['dag_run_id']}/cancel")

    async def _insist(self, path: str, body: Any = None, tries: int = 100) -> None:
        for _ in range(tries):
            try:
                answer = await self._call("POST", path, body=body)
            except NoAnswer:
                await asyncio.sleep(TRY_AGAIN)
                continue
            if answer.status_code != CONFLICT:  # Somebody else has just done it.
                answer.raise_for_status()
            return
