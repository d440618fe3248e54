"""Which handlers there are: found by entry point, asked by kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from gnomon.core.jobs.job import Definition
from gnomon.core.values.document import JSON, Document
from gnomon.errors import InvalidInput
from gnomon.handlers.base import Context, NotHere
from gnomon.handlers.discovery import GROUP, discover, installed_kinds
from gnomon.handlers.dummy import DummyHandler
from gnomon.handlers.registry import Registry
from gnomon.settings import HandlerSettings
from tests.attempts import an_attempt

HERE = "tests.unit.handlers.test_registry"


@dataclass
class Echo:
    settings: HandlerSettings
    kind: str = "echo"
    closed: bool = False

    def check(self, payload: JSON) -> None:
        raise InvalidInput("payload", "never right.")

    async def run(self, payload: JSON, context: Context) -> JSON:
        return payload

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Lenient(Echo):
    kind: str = "lenient"

    def check(self, payload: JSON) -> None:
        assert payload == {"words": ["a", "b"]}

    async def run(self, payload: JSON, context: Context) -> JSON:
        return [payload, context.input]


class Stubborn(Echo):
    async def aclose(self) -> None:
        raise RuntimeError("I stay.")


def no_handler(settings: HandlerSettings) -> object:
    return object()


def fails(settings: HandlerSettings) -> Echo:
    raise RuntimeError("No licence.")


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, GROUP)


def test_our_own_handlers_are_found() -> None:
    discovered = discover(HandlerSettings())
    assert not discovered.broken
    assert discovered.registry.kinds >= {"dummy", "http", "python", "script"}


def test_a_plugin_that_fails_is_named_and_the_others_run() -> None:
    discovered = discover(
        HandlerSettings(),
        found=[
            entry("gone", "no_such_module:Handler"),
            entry("fails", f"{HERE}:fails"),
            entry("nothing", f"{HERE}:no_handler"),
            entry("misnamed", f"{HERE}:Echo"),
            entry("echo", f"{HERE}:Echo"),
        ],
    )
    assert discovered.registry.kinds == {"echo"}
    told = {error.entry_point: str(error) for error in discovered.broken}
    assert told.keys() == {"gone", "fails", "nothing", "misnamed"}
    assert "The handler 'gone' of the distribution 'unknown' cannot be used" in told["gone"]
    assert "no_such_module" in told["gone"]
    assert "No licence." in told["fails"]
    assert "not a handler" in told["nothing"]
    assert "'echo'" in told["misnamed"]


def test_a_kind_that_is_taken_stays_with_the_first() -> None:
    twice = [entry("echo", f"{HERE}:Echo"), entry("echo", f"{HERE}:Stubborn")]
    discovered = discover(HandlerSettings(), found=twice)
    assert type(discovered.registry.handler("echo")) is Echo
    assert [error.entry_point for error in discovered.broken] == ["echo"]


async def test_a_plugin_runs_with_what_it_has_checked() -> None:
    """Plain JSON, and not how Gnomon keeps it."""
    payload = Document.of({"words": ["a", "b"]}, field="payload")
    handler = discover(HandlerSettings(), found=[entry("lenient", f"{HERE}:Lenient")]).registry.handler(
        "lenient"
    )
    context = an_attempt(input={"more": 1})
    handler.check(payload.value)
    assert await handler.run(payload.value, context) == [{"words": ["a", "b"]}, {"more": 1}]


def test_a_handler_that_is_off_is_not_even_made() -> None:
    settings = HandlerSettings(enabled=frozenset({"echo"}))
    found = [entry("fails", f"{HERE}:fails"), entry("Echo", f"{HERE}:Echo")]
    discovered = discover(settings, found=found, given={"python": fails})
    assert not discovered.broken
    assert discovered.registry.kinds == {"echo"}
    installed = installed_kinds(HandlerSettings()).installed
    assert installed is not None
    assert installed >= {"dummy", "http", "python", "script"}
    assert installed_kinds(HandlerSettings(enabled=frozenset({"http"}))).installed == frozenset({"http"})


def test_a_program_may_bring_its_own_handler() -> None:
    discovered = discover(
        HandlerSettings(), found=[entry("echo", "no_such_module:Handler")], given={"echo": Echo}
    )
    assert not discovered.broken
    assert type(discovered.registry.handler("echo")) is Echo


def test_an_unknown_kind_is_no_mistake_when_a_job_is_saved() -> None:
    Registry([DummyHandler(HandlerSettings())]).check(
        Definition("elsewhere", Document.of({"any": "thing"}, field="payload"))
    )


def test_a_payload_is_checked_when_a_job_is_saved() -> None:
    registry = Registry([DummyHandler(HandlerSettings())])
    registry.check(Definition("dummy", Document.of({"sleep_seconds": 1}, field="payload")))
    with pytest.raises(InvalidInput) as refused:
        registry.check(Definition("dummy", Document.of({"sleep_seconds": "long"}, field="payload")))
    assert refused.value.field == "payload.sleep_seconds"


def test_a_kind_that_nothing_here_runs_may_run_elsewhere() -> None:
    with pytest.raises(NotHere, match="Known kinds: dummy"):
        Registry([DummyHandler(HandlerSettings())]).handler("elsewhere")


async def test_closing_goes_on_after_one_that_fails() -> None:
    echo = Echo(HandlerSettings())
    registry = Registry([Stubborn(HandlerSettings(), kind="stubborn"), DummyHandler(HandlerSettings()), echo])
    with pytest.raises(ExceptionGroup):
        await registry.aclose()
    assert echo.closed
