"""One run of a function: what becomes of it, and what it returned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from gnomon.app.jobs.calls import duration
from gnomon.client import Client
from gnomon.core.executions.execution import Execution, ExecutionId, ExecutionStatus
from gnomon.core.executions.records import LogLine
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.errors import InvalidInput, RunFailed, RunNotEnded

Result = TypeVar("Result")


class Link(Protocol):
    """A way to the store that holds the run."""

    @property
    def client(self) -> Client: ...

    async def wait(self, execution_id: ExecutionId, patience: timedelta | None) -> Execution: ...


class Run(Generic[Result]):
    """`is_new` is False if a live run with the same unique key was there already: then this is that one."""

    def __init__(
        self,
        id: ExecutionId,
        returns: Any,
        link: Callable[[], Awaitable[Link]],
        *,
        is_new: bool = True,
    ) -> None:
        self.id = id
        self.is_new = is_new
        self._returns = returns
        self._link = link

    def __repr__(self) -> str:
        return f"<Run {self.id}>"

    async def result(self, timeout: timedelta | float | None = None) -> Result:  # noqa: ASYNC109 - our words.
        """What the function returned, once it has. A number is seconds.

        Raises RunFailed if it ended without a result, and RunNotEnded, a TimeoutError, if it takes longer.
        """
        execution = await (await self._link()).wait(self.id, duration(timeout, field="timeout"))
        match execution.status:
            case ExecutionStatus.COMPLETED:
                return self._decoded(execution)
            case status if status.is_final:
                failure = execution.failure
                raise RunFailed(
                    self.id,
                    status=status,
                    kind=failure.kind if failure else status.lower(),
                    message=failure.message if failure else "There is no result.",
                )
            case status:
                raise RunNotEnded(self.id, status=status)

    async def status(self) -> ExecutionStatus:
        return (await self.execution()).status

    async def execution(self) -> Execution:
        """All that is known about it."""
        return await (await self._link()).client.executions.get(self.id)

    async def cancel(self) -> ExecutionStatus:
        """Its status afterwards. RUNNING means: it was asked to stop."""
        return await (await self._link()).client.executions.cancel(self.id)

    async def logs(
        self, *, limit: int = PAGE_LIMIT_MAX, after: tuple[int, int] = (0, 0)
    ) -> Sequence[LogLine]:
        """What it wrote to any logger, in order, after the position (claim number, line number)."""
        return await (await self._link()).client.executions.logs(self.id, limit=limit, after=after)

    def _decoded(self, execution: Execution) -> Result:
        value = None if execution.result is None else execution.result.value
        try:
            decoded: Result = msgspec.convert(value, self._returns, str_keys=True)
        except msgspec.ValidationError as error:
            raise InvalidInput(
                "result", f"{value!r} is not what the function says it returns: {error}."
            ) from None
        return decoded
