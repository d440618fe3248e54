"""The graph of a workflow: what is refused and how it is said, levels, and what comes before and after."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.workflows.graph import EDGES_MAX, TASKS_MAX, Graph, GraphLimits
from gnomon.errors import InvalidDag, InvalidInput


@pytest.mark.parametrize(
    ("tasks", "problem", "task", "field", "reason"),
    [
        ([], "dag_empty", None, "tasks", "at least one task"),
        ([("a", []), ("a", [])], "duplicate", "a", "tasks.a", "twice"),
        ([("a", ["a"])], "dag_self", "a", "tasks.a.depends_on", "wait for itself"),
        ([("a", ["b"])], "unknown_node", "a", "tasks.a.depends_on", "there is no task 'b'"),
        ([("a", []), ("b", ["a", "a"])], "duplicate", "b", "tasks.b.depends_on", "names 'a' twice"),
        ([("a", ["b"]), ("b", ["a"])], "dag_cycle", "a", "tasks.a.depends_on", "a -> b -> a"),
        ([("x", []), ("a", ["c", "x"]), ("b", ["a"]), ("c", ["b"])], "dag_cycle", "a", "tasks.a.depends_on",
         "a -> c -> b -> a"),
    ],
)  # fmt: skip
def test_a_graph_that_could_never_run_is_refused_with_the_task_the_field_and_the_reason(
    tasks: list[tuple[str, list[str]]], problem: str, task: str | None, field: str, reason: str
) -> None:
    with pytest.raises(InvalidDag) as refused:
        Graph.of(tasks)

    assert isinstance(refused.value, InvalidInput)
    assert (refused.value.problem, refused.value.task, refused.value.field) == (problem, task, field)
    assert reason in refused.value.reason
    assert refused.value.details["problem"] == problem


def test_a_task_over_the_limit_is_refused_and_the_last_one_under_it_is_not() -> None:
    tasks: list[tuple[str, list[str]]] = [(str(n), []) for n in range(TASKS_MAX)]
    assert len(Graph.of(tasks).names) == TASKS_MAX

    with pytest.raises(InvalidDag, match="20001 tasks; at most 20000"):
        Graph.of([*tasks, ("one more", [])])
    with pytest.raises(InvalidDag, match="3 tasks; at most 2"):
        Graph.of(tasks[:3], GraphLimits(tasks_max=2))


def test_a_thousand_tasks_that_all_wait_for_each_other_are_too_many_edges() -> None:
    tasks = [(str(n), [str(m) for m in range(n)]) for n in range(1000)]

    with pytest.raises(InvalidDag, match=f"499500 dependencies; at most {EDGES_MAX}") as refused:
        Graph.of(tasks)
    assert refused.value.problem == "too_many_edges"


def test_a_chain_of_ten_thousand_is_fine_and_a_ring_of_them_is_named_briefly() -> None:
    chain = [(str(n), [str(n - 1)] if n else []) for n in range(10_000)]
    graph = Graph.of(chain)

    assert len(graph.levels()) == 10_000
    assert len(graph.downstream([0])) == len(graph.ancestors(9_999)) == 9_999
    assert list(graph.strangers({9_999: [0]})) == []

    chain[0] = ("0", ["9999"])
    with pytest.raises(InvalidDag) as refused:
        Graph.of(chain)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "name", ["'", '"', "`", "´", "«»", "a'b\"c`d", "'; DROP TABLE dags; --", "${x}", "\\"]
)
def test_a_name_with_every_kind_of_quote_is_just_a_name(name: str) -> None:
    assert Graph.of([(name, []), ("next", [name])]).levels() == [[0], [1]]


def test_levels_are_those_of_the_pipeline_in_the_first_example() -> None:
    tasks = [("extract", []), ("transform", ["extract"]), ("load", ["transform"]), ("notify", ["load"])]
    assert Graph.of(tasks).levels() == [[0], [1], [2], [3]]


@given(st.data())
def test_levels_ancestors_and_strangers_are_those_of_a_naive_search(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 12))
    order = data.draw(st.permutations(range(size)))  # A definition need not stand in the order it runs in.
    parents = {
        order[n]: data.draw(st.lists(st.sampled_from(order[:n]), unique=True, max_size=4)) if n else []
        for n in range(size)
    }
    graph = Graph.of([(str(n), [str(parent) for parent in parents[n]]) for n in range(size)])

    before = {n: set(parents[n]) for n in range(size)}
    for _ in range(size):
        before = {n: found.union(*(before[m] for m in found)) for n, found in before.items()}
    depth = dict.fromkeys(range(size), 0)
    for _ in range(size):
        depth = {n: 1 + max((depth[m] for m in parents[n]), default=-1) for n in range(size)}

    assert [graph.ancestors(n) for n in range(size)] == [before[n] for n in range(size)]
    assert all(graph.downstream([n]) == {m for m in range(size) if n in before[m]} for n in range(size))
    assert {n: level for level, tasks in enumerate(graph.levels()) for n in tasks} == depth
    everybody = {n: list(range(size)) for n in range(size)}
    assert set(graph.strangers(everybody)) == {
        (n, m) for n in range(size) for m in range(size) if m not in before[n]
    }
