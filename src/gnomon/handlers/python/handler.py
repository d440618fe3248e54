"""The kind `python`: calls a registered function with typed arguments."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec

from gnomon.core.values.document import JSON
from gnomon.handlers.base import Context, JobFailed
from gnomon.handlers.payload import merged, read, read_to_run
from gnomon.handlers.python.arguments import as_json
from gnomon.handlers.python.functions import Function, Functions, Isolation, load
from gnomon.handlers.python.process import run_in_process
from gnomon.handlers.python.threads import GENERATION, Threads, end_if_forked
from gnomon.settings import HandlerSettings

_PROCESS, _THREAD = Isolation.PROCESS, Isolation.THREAD  # A member of an enum is slow to name.


class FunctionPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    function: str
    arguments: dict[str, Any] = {}


class FunctionHandler:
    """Runs functions in the loop, in threads or in child processes, as each was registered."""

    kind = "python"

    def __init__(self, settings: HandlerSettings, functions: Functions | None = None) -> None:
        """Without `functions`, those that the settings name; importing them may raise anything."""
        if functions is None:
            functions = load(settings.functions) if settings.functions else Functions()
        self.functions = functions
        self._grace = settings.function_grace
        self._threads = Threads(name="gnomon-function")
        self._generation = GENERATION.number

    @property
    def abandoned_threads(self) -> int:
        return self._threads.abandoned

    def check(self, payload: JSON) -> None:
        asked = read(payload, FunctionPayload)
        function = self.functions.get(asked.function)
        if function is not None:  # Else a worker elsewhere may have it.
            function.signature.check(asked.arguments, field="payload.arguments")

    async def run(self, payload: JSON, context: Context) -> JSON:
        function, values = self._asked(payload)
        given, signature, arguments = context.given, function.signature, None
        if given is not None and not values and function.isolation is not _PROCESS:
            arguments = signature.arguments_of(given)
        if arguments is None:
            values = merged(values, context.input)
            arguments = signature.arguments(values) if values or signature.names else {}
        if function.isolation is _PROCESS:
            return await run_in_process(
                function.name, home=function.owner.home, values=values, context=context, grace=self._grace
            )
        if signature.context_name is not None:
            arguments[signature.context_name] = context
        result = await self._call(function, arguments)
        return None if result is None else as_json(result)

    async def aclose(self) -> None:
        self._threads.close()

    def _asked(self, payload: JSON) -> tuple[Function, dict[str, JSON]]:
        """The function and its arguments. Most executions of a busy queue say only a name."""
        if type(payload) is dict and len(payload) == 1 and type(name := payload.get("function")) is str:
            return self.functions[name], {}
        asked = read_to_run(payload, FunctionPayload)
        return self.functions[asked.function], asked.arguments

    async def _call(self, function: Function, arguments: dict[str, Any]) -> Any:
        try:
            if function.isolation is _THREAD:
                return await self._threads.run(partial(function.call, **arguments), grace=self._grace)
            result = function.call(**arguments)
            return await result if function.is_async else result
        except (SystemExit, StopIteration, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise
            # Each of them means something to the event loop that the function did not mean.
            raise JobFailed(f"{type(error).__name__}: {error}", kind=type(error).__name__) from error
        finally:
            end_if_forked(self._generation)
