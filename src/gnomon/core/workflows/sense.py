"""What can be read and can never do what its author means. It is refused when it is written down.

What was kept before a rule of these came is read, and runs, as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from gnomon.core.values.document import JSON
from gnomon.core.workflows.references import RUN_FACTS, Comparison, Condition, Reference, Source, references
from gnomon.core.workflows.workflow import Task, Workflow, of_task
from gnomon.errors import InvalidInput

_ORDERS = frozenset({Comparison.LESS, Comparison.AT_MOST, Comparison.MORE, Comparison.AT_LEAST})


def check_sense(workflow: Workflow) -> None:
    """Raises InvalidInput that names the task, the field and the reason."""
    for task in workflow.tasks:
        try:
            _check_task(task)
        except InvalidInput as error:
            raise of_task(task.name, error) from None


def _check_task(task: Task) -> None:
    reads = list(task.reads())
    for field, reference in reads:
        _check_reference(reference, field=field)
    for condition in task.conditions:
        _check_condition(condition)
    if task.fan_out is not None:
        _check_fan_out(reference for field, reference in reads if field == "payload")


def _check_reference(reference: Reference, *, field: str) -> None:
    if reference.source is Source.RUN and (len(reference.path) != 1 or reference.path[0] not in RUN_FACTS):
        there = " and ".join(f"${{run.{name}}}" for name in RUN_FACTS)
        raise InvalidInput(
            field, f"{reference} is not there; a run has {there}. For a plain text write $${{run. instead."
        )
    if reference.source is Source.INDEX and reference.path:
        raise InvalidInput(field, f"{reference}: the index is a number, with nothing inside of it.")


def _check_fan_out(reads: Iterable[Reference]) -> None:
    if not any(reference.source in (Source.ITEM, Source.INDEX) for reference in reads):
        raise InvalidInput(
            "payload",
            "does not say where the item of the fan-out goes; write ${item}, ${item.key} or ${index} where "
            'it belongs, such as {"url": "${item}"}.',
        )


def _check_condition(condition: Condition) -> None:
    comparison, value = condition.comparison, condition.value
    if comparison is Comparison.EXISTS:
        return
    if any(references(value, field="condition.value")):
        raise InvalidInput(
            "condition.value", "is compared as it stands; a reference is looked up in value_of only."
        )
    if comparison is Comparison.IN and not (isinstance(value, list) and value):
        raise InvalidInput("condition.value", "`in` looks into a list with something in it; this is none.")
    if comparison in _ORDERS and not _has_order(value):
        raise InvalidInput(
            "condition.value",
            f"`{comparison}` compares numbers or texts; this is neither, so it never holds.",
        )


def _has_order(value: JSON) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)
