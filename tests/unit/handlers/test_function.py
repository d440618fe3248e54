"""Functions in the loop and in threads: called, failed, stopped."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from datetime import date, timedelta
from typing import Any

import pytest

from gnomon.core.values.document import JSON
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, JobFailed, NotHere, Snooze, Stopped
from gnomon.handlers.python.functions import Functions
from gnomon.handlers.python.handler import FunctionHandler
from gnomon.settings import HandlerSettings
from tests.attempts import FakeAttendant, a_payload, an_attempt

GRACE = timedelta(seconds=0.2)


def handler_of(*added: Any, grace: timedelta = GRACE, isolation: str | None = None) -> FunctionHandler:
    functions = Functions()
    for function in added:
        functions.add(function.__name__, function, isolation=isolation)
    return FunctionHandler(HandlerSettings(function_grace=grace), functions)


def call(name: str, **arguments: JSON) -> JSON:
    return a_payload({"function": name, "arguments": arguments} if arguments else {"function": name})


async def test_an_async_function_runs_in_the_loop() -> None:
    async def where() -> str:
        return threading.current_thread().name

    handler = handler_of(where)
    for _ in range(2):  # The second call takes the short way.
        assert await handler.run(call("where"), an_attempt()) == threading.main_thread().name


async def test_a_sync_function_runs_in_a_thread_with_the_context_variables_of_its_caller() -> None:
    variable = contextvars.ContextVar("variable", default="unset")

    def where() -> list[str]:
        return [threading.current_thread().name, variable.get()]

    variable.set("from the caller")
    assert await handler_of(where).run(call("where"), an_attempt()) == ["gnomon-function", "from the caller"]


async def test_a_quick_sync_function_may_run_in_the_loop() -> None:
    def where() -> str:
        return threading.current_thread().name

    found = await handler_of(where, isolation="loop").run(call("where"), an_attempt())
    assert found == threading.main_thread().name


async def test_the_input_of_the_execution_goes_over_the_arguments_of_the_job() -> None:
    async def report(day: date, rows: int, context: Context) -> dict[str, Any]:
        return {"day": day, "rows": rows, "attempt": context.attempt}

    context = an_attempt(input={"rows": 2}, attempt=4)
    result = await handler_of(report).run(call("report", day="2026-03-01", rows=1), context)
    assert result == {"day": "2026-03-01", "rows": 2, "attempt": 4}


async def test_arguments_that_were_changed_do_not_reach_the_next_call() -> None:
    async def spoil(items: Any = None) -> Any:
        items.append(1)
        return items

    handler = handler_of(spoil)
    for _ in range(2):
        assert await handler.run(call("spoil", items=[]), an_attempt()) == [1]


async def test_an_input_that_is_no_object_is_refused() -> None:
    async def nothing() -> None: ...

    with pytest.raises(JobFailed) as failed:
        await handler_of(nothing).run(call("nothing"), an_attempt(input=[1]))
    assert (failed.value.kind, failed.value.permanent) == ("bad_arguments", True)


async def test_an_input_that_nobody_takes_is_refused() -> None:
    async def nothing() -> None: ...

    with pytest.raises(JobFailed, match="Argument more: "):
        await handler_of(nothing).run(call("nothing"), an_attempt(input={"more": 1}))


async def test_a_function_that_is_not_here_may_be_elsewhere() -> None:
    handler = handler_of()
    handler.check({"function": "elsewhere", "arguments": {"any": 1}})
    with pytest.raises(NotHere, match="elsewhere"):
        await handler.run(call("elsewhere"), an_attempt())


def test_a_payload_is_checked_by_the_function_that_it_names() -> None:
    def report(day: date) -> None: ...

    handler = handler_of(report)
    handler.check({"function": "report"})
    for payload, field in [
        ({"function": "report", "arguments": {"day": 1}}, "payload.arguments.day"),
        ({"function": "report", "arguments": {"dya": 1}}, "payload.arguments.dya"),
        ({"function": "report", "arguments": []}, "payload.arguments"),
        ({"function": "report", "argument": {}}, "payload.argument"),
        ({}, "payload.function"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            handler.check(payload)  # type: ignore[arg-type]
        assert refused.value.field == field


@pytest.mark.parametrize("isolation", ["thread", "loop"])
@pytest.mark.parametrize("error", [SystemExit(3), StopIteration("x"), KeyError("k"), Snooze(GRACE)])
async def test_whatever_a_function_raises_is_an_outcome(error: BaseException, isolation: str) -> None:
    def raises() -> None:
        raise error

    with pytest.raises((JobFailed, KeyError, Snooze)) as failed:
        await handler_of(raises, isolation=isolation).run(call("raises"), an_attempt())
    if isinstance(failed.value, JobFailed):
        assert failed.value.kind == type(error).__name__


async def test_a_cancelled_error_of_a_function_does_not_pass_for_a_cancelled_task() -> None:
    def raises() -> None:
        raise asyncio.CancelledError

    async def raises_too() -> None:
        raise asyncio.CancelledError

    handler = handler_of(raises, raises_too)
    for name in ("raises", "raises_too"):
        with pytest.raises(JobFailed) as failed:
            await handler.run(call(name), an_attempt())
        assert failed.value.kind == "CancelledError"


async def test_a_function_that_looks_is_stopped_by_its_context() -> None:
    started, attendant, left = threading.Event(), FakeAttendant(), []

    def looks(context: Context) -> None:
        started.set()
        while not context.cancelled:
            time.sleep(0)
        left.append("by itself")

    handler = handler_of(looks, grace=timedelta(seconds=30))
    task = asyncio.create_task(handler.run(call("looks"), an_attempt(attendant)))
    await asyncio.to_thread(started.wait)
    attendant.stopping = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left == ["by itself"]
    assert handler.abandoned_threads == 0


async def test_a_function_that_never_looks_is_told_by_an_exception() -> None:
    started, left = threading.Event(), []

    def never_looks() -> None:
        started.set()
        try:
            while True:
                time.sleep(0)
        except Exception:
            left.append("an exception that users catch")
        except Stopped:
            left.append("stopped")
            raise

    handler = handler_of(never_looks)
    task = asyncio.create_task(handler.run(call("never_looks"), an_attempt()))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert left == ["stopped"]
    assert handler.abandoned_threads == 0


async def test_a_function_that_hangs_is_left_behind_counted_and_comes_back() -> None:
    started, release = threading.Event(), threading.Event()

    def hangs() -> None:
        started.set()
        release.wait()

    async def name() -> str:
        return "fine"

    handler = handler_of(hangs, name)
    task = asyncio.create_task(handler.run(call("hangs"), an_attempt()))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert handler.abandoned_threads == 1
    assert await handler.run(call("name"), an_attempt()) == "fine"

    release.set()
    while handler.abandoned_threads:  # noqa: ASYNC110 - a count has no event.
        await asyncio.sleep(0)


async def test_stopping_never_hits_what_runs_after_the_function() -> None:
    """Functions that end in the very moment they are stopped, on threads that go on to the next one."""

    def brief(turns: int) -> int:
        for _ in range(turns):
            pass
        return turns

    handler = handler_of(brief, grace=timedelta(0))
    for number in range(400):
        task = asyncio.create_task(handler.run(call("brief", turns=number * 20), an_attempt()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await handler.run(call("brief", turns=1), an_attempt()) == 1
    while handler.abandoned_threads:  # noqa: ASYNC110 - a count has no event.
        await asyncio.sleep(0)
    await handler.aclose()


async def test_threads_are_used_again() -> None:
    def ident() -> int:
        return threading.get_ident()

    handler = handler_of(ident)
    assert len({await handler.run(call("ident"), an_attempt()) for _ in range(50)}) == 1
    await handler.aclose()


def test_registration_refuses_what_cannot_run() -> None:
    functions = Functions()

    async def asynchronous() -> None: ...
    def sync() -> None: ...
    def generator() -> Any:
        yield 1

    functions.add("sync", sync)
    for name, function, isolation in [
        ("sync", sync, None),
        ("", sync, None),
        ("odd", sync, "container"),
        ("async", asynchronous, "thread"),
        ("process", sync, "process"),  # Nobody said where a child process finds it.
        ("generator", generator, None),
        ("class", dict, None),
        ("number", 7, None),
    ]:
        with pytest.raises(InvalidInput):
            functions.add(name, function, isolation=isolation)  # type: ignore[arg-type]
