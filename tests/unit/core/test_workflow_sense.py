"""What can be read and can never do what its author means is refused, with what to write instead."""

from __future__ import annotations

import pytest

from gnomon.core.values.document import JSON
from gnomon.core.workflows.document import read_dag, read_workflow
from gnomon.core.workflows.workflow import Plan
from gnomon.errors import InvalidInput

OVER: JSON = {"over": "${config.l}"}


def dag(**task: JSON) -> dict[str, JSON]:
    return {"name": "flow", "tasks": [{"name": "a", "kind": "echo", **task}]}


def when(comparison: str, value: JSON) -> dict[str, JSON]:
    return dag(condition={"value_of": "${config.n}", "is": comparison, "value": value})


RUN_HAS = "is not there; a run has ${run.time} and ${run.day}. For a plain text write $${run. instead."
NO_ITEM = (
    "does not say where the item of the fan-out goes; write ${item}, ${item.key} or ${index} where "
    'it belongs, such as {"url": "${item}"}.'
)
NO_LIST = "`in` looks into a list with something in it; this is none."
NO_ORDER: list[JSON] = [[1], {}, None, True]
REFUSED = [
    (dag(payload={"x": "${run.dya}"}), "payload", f"${{run.dya}} {RUN_HAS}"),
    (dag(payload={"x": ["at ${run.time.hour}"]}), "payload", f"${{run.time.hour}} {RUN_HAS}"),
    (
        dag(payload={"x": "${index.a}"}, fan_out=OVER),
        "payload",
        "${index.a}: the index is a number, with nothing inside of it.",
    ),
    (dag(payload={"x": 1}, fan_out=OVER), "payload", NO_ITEM),
    (dag(payload={"x": "${config.day}"}, fan_out=OVER), "payload", NO_ITEM),
    (when("in", 3), "condition.value", NO_LIST),
    (when("in", "abc"), "condition.value", NO_LIST),
    (when("in", []), "condition.value", NO_LIST),
    *(
        (
            when(order, value),
            "condition.value",
            f"`{order}` compares numbers or texts; this is neither, so it never holds.",
        )
        for order in ("<", "<=", ">", ">=")
        for value in NO_ORDER
    ),
    (
        when("==", "${config.m}"),
        "condition.value",
        "is compared as it stands; a reference is looked up in value_of only.",
    ),
]


@pytest.mark.parametrize(("document", "field", "reason"), REFUSED)
def test_what_makes_no_sense_is_refused(document: JSON, field: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_dag(document)
    assert (refused.value.field, refused.value.reason) == (f"tasks.a.{field}", reason)


@pytest.mark.parametrize("document", [document for document, _, _ in REFUSED])
def test_what_was_kept_before_can_still_be_read(document: JSON) -> None:
    Plan.of(read_workflow(document))


@pytest.mark.parametrize(
    "document",
    [
        dag(payload={"x": "${run.day} ${run.time} $${run.dya} ${run} ${runs.x}"}),
        dag(payload={"x": "${item.a}"}, fan_out=OVER),
        dag(payload={"x": "no ${index}"}, fan_out=OVER),
        dag(payload="${item}", fan_out=OVER),
        when("in", [None]),
        when("<", 1.5),
        when(">=", "b"),
        when("==", None),
        when("!=", [1]),
        when("exists", None),
    ],
)
def test_what_makes_sense_is_taken(document: JSON) -> None:
    Plan.of(read_dag(document).workflow)
