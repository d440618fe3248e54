"""Words from a list are read in any case, wherever a form has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from gnomon import Gnomon
from gnomon.api import ROUTES
from gnomon.api.forms.outcome_forms import outcome_of
from gnomon.client.remote.worker_protocol import Completion
from gnomon.core.executions.lifecycle import Succeeded
from gnomon.core.time.schedule_document import from_document
from gnomon.core.values.choices import Choice
from gnomon.core.values.forms import Form
from gnomon.core.workflows.forms import Strict
from gnomon.errors import InvalidInput
from gnomon.handlers.http.handler import HttpHandler
from gnomon.handlers.http.payload import HttpPayload
from gnomon.handlers.python.functions import Isolation
from gnomon.handlers.script.payload import ScriptPayload
from gnomon.settings import HandlerSettings

NOON = "2030-01-01T12:00:00Z"
DAILY = {"type": "cron", "cron": "@daily", "gap": "skip"}


def forms(root: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    subclasses: list[type[msgspec.Struct]] = root.__subclasses__()
    for one in subclasses:
        yield one
        yield from forms(one)


def leaves(kind: inspect.Type) -> Iterator[inspect.Type]:
    match kind:
        case inspect.UnionType(types=types):
            inside = list(types)
        case inspect.CollectionType(item_type=item):
            inside = [item]
        case inspect.DictType(value_type=value):
            inside = [value]
        case _:
            yield kind
            return
    for one in inside:
        yield from leaves(one)


def test_no_form_has_a_word_that_is_read_in_one_case_only() -> None:
    assert ROUTES  # All forms are loaded with them.
    every: list[type[msgspec.Struct]] = [*forms(Form), *forms(Strict), HttpPayload, ScriptPayload]
    assert len(every) > 30
    strict = [
        f"{form.__name__}.{field.name}"
        for form in every
        for field in msgspec.structs.fields(form)
        for leaf in leaves(inspect.type_info(field.type))
        if (isinstance(leaf, inspect.EnumType) and not issubclass(leaf.cls, Choice))
        or (isinstance(leaf, inspect.LiteralType) and any(isinstance(one, str) for one in leaf.values))
    ]
    assert strict == []


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ({"type": "CRON", "cron": "@daily", "gap": "SKIP"}, DAILY),
        ({"type": "Recurring", "interval_seconds": 5}, {"type": "interval", "interval_seconds": 5}),
        ({"type": "ONE_TIME", "run_at": NOON}, {"type": "once", "run_at": NOON}),
        ({"type": "MANUAL"}, {"type": "manual"}),
    ],
)  # fmt: skip
def test_the_schedule_of_a_workflow_has_a_type_in_any_case(written: Any, plain: Any) -> None:
    assert from_document(written) == from_document(plain)


def test_methods_and_statuses_of_an_http_job_are_read_in_any_case() -> None:
    handler = HttpHandler(HandlerSettings())
    handler.check({"url": "https://example.org", "method": "Post", "expected_status": ["2XX"]})
    assert msgspec.convert({"url": "x", "method": "get"}, HttpPayload).method == "GET"
    with pytest.raises(InvalidInput, match="one of GET, HEAD, POST"):
        handler.check({"url": "https://example.org", "method": "fetch"})


def test_a_worker_may_say_how_an_attempt_ended_in_any_case() -> None:
    said = {"execution_id": "x", "claim": 1, "outcome": "SUCCEEDED"}
    assert outcome_of(msgspec.convert(said, Completion)) == Succeeded()


def test_words_in_python_code_are_read_in_any_case() -> None:
    app = Gnomon("sqlite://:memory:")

    @app.job(
        isolation="Thread", misfire="fire_all", overlap="SKIP", delivery="AT_MOST_ONCE", cron="0 9 * * *"
    )
    def tidy() -> None: ...

    assert app.functions["tidy"].isolation is Isolation.THREAD
