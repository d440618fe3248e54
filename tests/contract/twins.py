"""Two stores that get the same calls and must give the same answers: the judge, and the judged."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gnomon.core.access.tenants import TenantId
from gnomon.core.executions.records import ExecutionFilter, JobFilter
from gnomon.core.jobs.job import JobStatus
from gnomon.errors import GnomonError, InvalidDependency
from gnomon.store.protocols.store import Store
from tests.contract.grounds import Ground
from tests.contract.model import ModelStore

EVERYTHING = 1000
FAR_AWAY = datetime(3000, 1, 1, tzinfo=UTC)
# Answers that are sets: neither their order nor a repetition is anybody's promise.
SETS = {"renew", "save", "append", "purge", "calendars", "fire"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as a value. Its words are each store's own; its class and its facts are not."""

    kind: type[GnomonError]
    facts: Mapping[str, object]

    @classmethod
    def of(cls, error: GnomonError) -> Refusal:
        facts = {} if isinstance(error, InvalidDependency) else dict(error.details)
        return cls(type(error), facts | {"id": str(getattr(error, "id", ""))})


class Twins:
    """The model and a real store on one event loop."""

    def __init__(self, ground: Ground, **options: Any) -> None:
        self._runner = asyncio.Runner()
        self.model = ModelStore()
        self._real = self._runner.run(ground.fresh(**options))

    def close(self) -> None:
        self._runner.run(self._real.close())
        self._runner.close()

    def ask(self, noun: str, verb: str, *args: Any, **kwargs: Any) -> Any:
        """Ask both. Returns what both answered, or the Refusal that both gave."""
        expected = self._runner.run(_answer(self.model, noun, verb, *args, **kwargs))
        actual = self._runner.run(_answer(self._real, noun, verb, *args, **kwargs))
        assert actual == expected, f"{noun}.{verb}\nanswered {actual}\nand not   {expected}"
        return expected

    def compare(self, tenants: Sequence[TenantId], *, now: datetime) -> None:
        """Everything that a reader can see must be the same."""
        expected = self._runner.run(_visible(self.model, self.model, tenants, now))
        actual = self._runner.run(_visible(self._real, self.model, tenants, now))
        for place, value in expected.items():
            assert actual[place] == value, f"{place}\nis        {actual[place]}\nand not   {value}"


async def _answer(store: Store | ModelStore, noun: str, verb: str, *args: Any, **kwargs: Any) -> Any:
    try:
        answer = await getattr(getattr(store, noun), verb)(*args, **kwargs)
    except GnomonError as error:
        return Refusal.of(error)
    if isinstance(answer, Sequence):
        return sorted({repr(one) for one in answer}) if verb in SETS else list(answer)
    return dict(answer) if isinstance(answer, Mapping) else answer


async def _visible(
    store: Store | ModelStore, model: ModelStore, tenants: Sequence[TenantId], now: datetime
) -> dict[str, object]:
    """What readers see, by place. The model knows which ids there are to ask for."""
    seen: dict[str, Any] = {
        "workers": list(await store.workers.list(limit=EVERYTHING)),
        "leases": list(await store.executions.expired(now=FAR_AWAY, limit=EVERYTHING)),
        "next due": await store.schedules.next_due(),
        "live": dict(await store.schedules.live(list(model.state.jobs))),
        "checkpoints": dict(await store.checkpoints.load(list(model.state.runs))),
    }
    for tenant in tenants:
        pages = {
            "jobs": store.jobs.page(tenant, JobFilter(), limit=EVERYTHING),
            "deleted": store.jobs.page(tenant, JobFilter(status=JobStatus.DELETED), limit=EVERYTHING),
            "executions": store.executions.page(tenant, ExecutionFilter(), now=now, limit=EVERYTHING),
            "dead letters": store.dead_letters.page(tenant, limit=EVERYTHING),
        }
        seen |= {f"{name} of {tenant}": await page for name, page in pages.items()}
    for job in model.state.jobs.values():
        rows = await store.schedules.occurrences(job.tenant_id, job.id, limit=EVERYTHING)
        seen[f"ledger of {job.id}"] = list(rows)
    for run in model.state.runs.values():
        if run.claim:
            attempts = await store.executions.attempts(run.tenant_id, run.id)
            lines = await store.logs.read(run.tenant_id, run.id, limit=EVERYTHING)
            seen |= {f"attempts of {run.id}": list(attempts), f"logs of {run.id}": list(lines)}
    return seen
