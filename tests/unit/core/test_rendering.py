"""The size of what a template becomes is known before it becomes it."""

from __future__ import annotations

import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.runs.events import Started
from gnomon.core.runs.releases import FAN_OUT_BYTES_MAX, ITEM_BYTES_MIN, RELEASE_BYTES_MAX
from gnomon.core.runs.state import TaskStatus
from gnomon.core.values.document import DOCUMENT_BYTES_MAX, JSON, Document
from gnomon.core.workflows.references import Reference, Source
from gnomon.core.workflows.rendering import rendered
from gnomon.core.workflows.workflow import AwaitEvent, FanOut, SubDag
from gnomon.errors import PayloadTooLarge
from tests.unit.core.workflows import Bench, plan_of, task

LARGE = "x" * 200_000
TIMES = 18_000
KNOWN: JSON = {"a": 'he said "é\n"', "b": [1, None, {"x": "\\"}], "c": 0, "d": "", "e": None, "f": "😀" * 9}
PIECES = st.sampled_from(
    ["${config.a}", "${config.b}", "${config.c}", "${config.d}", "${config.e}", "${config.f}", "${config}",
     "$${config.a}", ' "é\n', "$"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=4).map("".join)
TEMPLATES = st.recursive(
    TEXTS | st.integers(-9, 9), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=9
)


class Config:
    def __init__(self, value: JSON) -> None:
        self.value = value

    def of(self, reference: Reference) -> JSON:
        return self.value


@given(TEMPLATES, st.integers(0, 60))
def test_the_size_that_is_told_is_the_size_that_it_would_have(template: JSON, bytes_max: int) -> None:
    value, document = rendered(template, Config(KNOWN), field="payload")
    size = len(msgspec.json.encode(value))
    assert document.value == value
    if size <= bytes_max:
        assert rendered(template, Config(KNOWN), field="payload", bytes_max=bytes_max)[0] == value
        return
    with pytest.raises(PayloadTooLarge) as caught:
        rendered(template, Config(KNOWN), field="payload", bytes_max=bytes_max)
    assert caught.value.size_bytes == size


@pytest.mark.parametrize(
    ("template", "size"),
    [
        (["${config.x}"] * TIMES, TIMES * 200_003 + 1),
        ("${config.x}" * TIMES, TIMES * 200_000 + 2),
        (["no. ${index}: ${config}"] * TIMES, None),
    ],
    ids=["wholes", "parts", "mixed"],
)
def test_a_template_is_measured_before_it_grows(template: JSON, size: int | None) -> None:
    values = Config({"x": LARGE})
    tracemalloc.start()
    try:
        with pytest.raises(PayloadTooLarge) as caught:
            rendered(template, values, field="config")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 10 * DOCUMENT_BYTES_MAX
    assert caught.value.field == "config"
    assert caught.value.size_bytes_max == DOCUMENT_BYTES_MAX
    assert size in (None, caught.value.size_bytes)


def test_every_place_of_a_template_says_what_was_too_large() -> None:
    grown: JSON = {"x": ["${config.x}"] * TIMES}
    correlation = "${config.x}" * TIMES
    plan = plan_of(
        task("payload", payload=grown),
        task("item", payload=grown, fan_out=FanOut(Reference(Source.CONFIG, path=("list",)), 9)),
        task("config", work=SubDag("inner", Document.of(grown, field="config"))),
        task("correlation", work=AwaitEvent("paid", correlation)),
    )
    run = Bench(plan, config={"x": LARGE, "list": [1, 2]})
    tracemalloc.start()
    try:
        failures = run.send(Started()).failures
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    size = TIMES * (200_000 + 3) - 1 + len('{"x":[]}')  # With quotes and a comma each.
    whole = f" {size} bytes as JSON with what it refers to"
    told = [failures[place].message for place in range(4)]
    assert [one.partition(":")[0] for one in told] == ["payload", "payload", "config", "event.correlation"]
    assert all(whole in one for one in told[:3])
    assert all(f"at most {DOCUMENT_BYTES_MAX}." in one for one in told)
    assert peak_bytes < 10 * DOCUMENT_BYTES_MAX


def test_what_begins_at_once_is_bounded_together() -> None:
    """Each payload fits; a workflow of 20,000 such tasks would be gigabytes."""
    count = RELEASE_BYTES_MAX // 200_000 + 10
    run = Bench(plan_of(*[task(f"t{at}", payload="${config}") for at in range(count)]), config={"x": LARGE})
    changes = run.send(Started())
    begun = sum(len(one.payload.text) for one in changes.releases if one.payload is not None)
    assert RELEASE_BYTES_MAX - 200_010 < begun <= RELEASE_BYTES_MAX
    assert len(changes.failures) == count - len(changes.releases)
    assert str(RELEASE_BYTES_MAX) in changes.failures[count - 1].message


def test_references_to_next_to_nothing_are_counted_before_they_are_rendered() -> None:
    """A million references to an empty text come to nothing, and take seconds to read."""
    items, times = 1_000, 1_000
    body = task(
        "f", payload="${item}" * times, fan_out=FanOut(Reference(Source.CONFIG, path=("list",)), items)
    )
    changes = Bench(plan_of(body), config={"list": [""] * items}).send(Started())
    assert not changes.releases
    assert changes.failures[0].message == (
        f"fan_out: its payloads are together more than {FAN_OUT_BYTES_MAX} bytes. "
        "Each counts as at least 64000: 512, or 64 for each reference."
    )


def test_small_items_that_begin_at_once_are_bounded_together() -> None:
    """Hundreds of fan-outs of ten thousand items would be millions of rows in one transaction."""
    over = FanOut(Reference(Source.CONFIG, path=("list",)), 10_000)
    count = RELEASE_BYTES_MAX // (10_000 * ITEM_BYTES_MIN)
    run = Bench(
        plan_of(*[task(f"t{at}", payload="${index}", fan_out=over) for at in range(count + 2)]),
        config={"list": [0] * 10_000},
    )
    changes = run.send(Started())
    assert len(changes.releases) == count
    assert set(changes.failures) == {count, count + 1}
    assert str(RELEASE_BYTES_MAX) in changes.failures[count].message


def test_what_was_rendered_in_vain_counts_too() -> None:
    """Otherwise a thousand fan-outs that fail at their last item take a thousand times as long."""
    whole: list[JSON] = [{"y": 1}] * (FAN_OUT_BYTES_MAX // 200_010)
    over = FanOut(Reference(Source.CONFIG, path=("list",)), 1_000)
    run = Bench(
        plan_of(*[task(f"t{at}", payload="${config.x}${item.y}", fan_out=over) for at in range(6)]),
        config={"x": LARGE, "list": [*whole, {}]},
    )
    failures = run.send(Started()).failures
    assert [str(RELEASE_BYTES_MAX) in failures[place].message for place in range(6)] == [False] * 4 + [
        True
    ] * 2


def test_what_fits_does_not_depend_on_what_else_ends_at_that_moment() -> None:
    """Two events in one transaction have as much room as in two."""
    wide = RELEASE_BYTES_MAX // 200_000 * 3 // 4
    heads = [task("a"), task("b")]
    bodies = [task(f"{head}{at}", head, payload="${config}") for head in "ab" for at in range(wide)]
    run = Bench(plan_of(*heads, *bodies), config={"x": LARGE}).start()
    changes = run.send(run.ended("a", TaskStatus.COMPLETED), run.ended("b", TaskStatus.COMPLETED))
    assert not changes.failures
    assert len(changes.releases) == 2 * wide
