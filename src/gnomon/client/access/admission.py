"""Which kinds are let in when something is saved: those known here, and those of live workers.

The store is asked for workers only if a kind is unknown here, and once for all that one call saves.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from gnomon.client.context import ClientContext
from gnomon.core.jobs.kinds import Kinds
from gnomon.core.workflows.document import WrittenDag
from gnomon.core.workflows.workflow import Execute, of_task
from gnomon.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Admission:
    """Made for the kinds of one call."""

    kinds: Kinds
    elsewhere: frozenset[str] = frozenset()

    def check(self, kind: str, *, allows_unknown: bool) -> None:
        """Raises UnknownKind, KindDisabled."""
        self.kinds.check(kind, elsewhere=self.elsewhere, allows_unknown=allows_unknown)

    def check_dag(self, written: WrittenDag) -> None:
        """The same, with the task that it is about."""
        admitted: set[str] = set()
        for task in written.workflow.tasks:
            if not isinstance(task.work, Execute) or task.work.definition.kind in admitted:
                continue
            try:
                self.check(task.work.definition.kind, allows_unknown=written.allow_unknown_kind)
            except InvalidInput as error:
                raise of_task(task.name, error) from None
            admitted.add(task.work.definition.kind)


async def admission(own: ClientContext, wanted: Collection[str]) -> Admission:
    if all(own.kinds.is_known(kind) for kind in wanted):
        return Admission(own.kinds)
    return Admission(own.kinds, await own.store.workers.live_kinds(now=own.clock.now()))


def kinds_in(written: WrittenDag) -> set[str]:
    """Of the tasks that workers run."""
    tasks = written.workflow.tasks
    return {task.work.definition.kind for task in tasks if isinstance(task.work, Execute)}
