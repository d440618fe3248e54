"""Jobs that wait for each other in a circle."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.workflows.graph import check_acyclic, find_cycle
from gnomon.errors import InvalidDependency


def test_a_circle_is_named_in_the_error() -> None:
    with pytest.raises(InvalidDependency, match="b -> c -> d -> b"):
        check_acyclic({"a": ["b"], "b": ["c"], "c": ["d"], "d": ["b"]})


def test_a_job_that_waits_for_itself_is_a_circle() -> None:
    assert find_cycle({"a": ["a"]}) == ["a", "a"]


def test_a_diamond_is_no_circle() -> None:
    check_acyclic({"a": ["b", "c"], "b": ["d"], "c": ["d"]})
    check_acyclic({})


def test_a_chain_of_ten_thousand_jobs_is_data_and_not_stack() -> None:
    chain = {n: [n + 1] for n in range(10_000)}
    check_acyclic(chain)

    with pytest.raises(InvalidDependency) as refused:
        check_acyclic(chain | {10_000: [0]})
    assert len(str(refused.value)) < 300
    assert "0 -> 1 -> 2 -> 3 -> 4 -> (9992 more) -> " in str(refused.value)


def test_a_full_graph_of_a_thousand_jobs_is_looked_at_once() -> None:
    check_acyclic({n: range(n + 1, 1000) for n in range(1000)})


@given(
    edges=st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 7), max_size=3), max_size=8),
)
def test_a_circle_is_found_exactly_if_nothing_is_left_to_take_away(edges: dict[int, list[int]]) -> None:
    """The reference takes away nodes that wait for nothing until it can take no more."""
    left = {node: set(edges.get(node, ())) for node in range(8)}
    while free := {node for node, waits in left.items() if not waits}:
        left = {node: waits - free for node, waits in left.items() if node not in free}

    cycle = find_cycle(edges)

    assert (cycle is None) == (not left)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(later in edges[earlier] for earlier, later in pairwise(cycle))
