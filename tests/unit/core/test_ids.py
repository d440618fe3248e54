"""Ids that sort by time and only grow."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from random import Random
from uuid import UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.values.ids import PLACE_MAX, IdSource, derived_id, first_id_of, named_id, uuid7
from tests.unit.core.builders import NOON, SECOND

MILLISECOND = timedelta(milliseconds=1)


@given(unix_ms=st.integers(0, 2**48 - 1), tail=st.integers(0, 2**74 - 1))
def test_an_id_is_a_uuid_of_version_7_that_holds_its_time(unix_ms: int, tail: int) -> None:
    made = uuid7(unix_ms, tail)

    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert made.int >> 80 == unix_ms


@given(
    first=st.tuples(st.integers(0, 2**48 - 1), st.integers(0, 2**74 - 1)),
    second=st.tuples(st.integers(0, 2**48 - 1), st.integers(0, 2**74 - 1)),
)
def test_ids_sort_by_time_and_then_by_tail(first: tuple[int, int], second: tuple[int, int]) -> None:
    assert (uuid7(*first) < uuid7(*second)) == (first < second)


@given(steps=st.lists(st.sampled_from([-5000, -1, 0, 0, 0, 1, 60_000]), min_size=2, max_size=50))
def test_ids_only_grow_even_when_the_clock_steps_back(steps: list[int]) -> None:
    source, now, made = IdSource(Random(1)), NOON, []
    for milliseconds in steps:
        now += milliseconds * MILLISECOND
        made.append(source.next(now))

    assert all(earlier < later for earlier, later in pairwise(made))


def test_ten_thousand_ids_of_one_moment_differ_and_keep_their_order() -> None:
    source = IdSource(Random(1))

    made = [source.next(NOON) for _ in range(10_000)]

    assert made == sorted(set(made))


def test_equal_chance_gives_equal_ids() -> None:
    assert IdSource(Random(7)).next(NOON) == IdSource(Random(7)).next(NOON)
    assert IdSource(Random(7)).next(NOON) != IdSource(Random(8)).next(NOON)


def test_the_first_id_of_an_instant_divides_earlier_ids_from_later_ones() -> None:
    border = first_id_of(NOON)

    assert IdSource(Random(1)).next(NOON - MILLISECOND) < border < IdSource(Random(1)).next(NOON)
    assert first_id_of(NOON) < first_id_of(NOON + SECOND)


def test_what_follows_from_something_has_the_same_id_whoever_makes_it() -> None:
    origin = IdSource(Random(1)).next(NOON)

    made = derived_id(NOON + SECOND, origin, 3, 1, place=3)

    assert made == derived_id(NOON + SECOND, UUID(str(origin)), 3, 1, place=3)
    assert made.version == 7
    assert made not in {
        derived_id(NOON + SECOND, origin, 3, 2, place=3),
        derived_id(NOON + SECOND, origin, 4, 1, place=3),
        derived_id(NOON + SECOND, IdSource(Random(2)).next(NOON), 3, 1, place=3),
    }


def test_what_follows_is_younger_even_when_the_clock_steps_back() -> None:
    origin = IdSource(Random(1)).next(NOON)
    assert derived_id(NOON - SECOND, origin, place=PLACE_MAX) > origin


def test_what_follows_from_one_thing_lies_together_in_its_order_and_the_oldest_first() -> None:
    """So whoever takes the first of them has few runs in hand, and these end soon."""
    source = IdSource(Random(1))
    origins = [source.next(NOON + n * MILLISECOND) for n in range(0, 1000, 7)]

    ids = [derived_id(NOON + SECOND, origin, n, place=n) for origin in origins for n in (0, 1, 2, PLACE_MAX)]

    assert ids == sorted(ids)


def test_a_name_has_one_id_within_something() -> None:
    origin = UUID("0198c5a2-0000-7000-8000-000000000001")

    assert named_id(origin, "extract") == uuid5(origin, "extract")
    assert named_id(origin, "extract") != named_id(origin, "load")
