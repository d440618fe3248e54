"""Tests wait for events, use what is real, and assert something. Exceptions have reasons, here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.house.conftest import Plant
from tests.house.tree import ROOT, Function, Source, functions, must_be_empty, sources, stale

UNDER = "tests"
SLEEPS = {"asyncio.sleep", "time.sleep", "anyio.sleep"}
PATCHES = {"monkeypatch.setattr", "patch.setattr", "SimpleNamespace"}
MOCKS = {"unittest.mock", "pytest_mock", "mock"}
SLEEPS_TOLD = (
    "sleeps for a fixed time. Advance a clock, await an event, look again in a loop with an end; "
    "or say why not in tests/house/test_habits.py."
)
PATCHES_TOLD = (
    "replaces a part of ours. Use the real one, on SQLite in memory; "
    "or say in tests/house/test_habits.py what could not be brought about otherwise."
)
ASSERTIONS = {"pytest.raises", "pytest.fail", "pytest.warns"}

# Sleeps outside of a loop that looks again: "path::function", and why nothing can be awaited there.
MAY_SLEEP: dict[str, str] = {
    "tests/acceptance/engine/jobs.py::touch": "A job that takes a while, in another process.",
    "tests/acceptance/engine/test_clocks.py::test_a_wall_clock_that_is_set_changes_nothing": (
        "Processes work for a while under each clock; nothing tells that nothing happened."
    ),
    "tests/acceptance/engine/test_kills.py::test_a_scheduler_that_is_killed_anywhere_loses_nothing": (
        "A schedule of every second shall fire a few times more."
    ),
    "tests/acceptance/engine/test_restarts.py::test_work_goes_on_after_a_restart_of_the_database": (
        "Processes work for a while between two restarts."
    ),
    "tests/acceptance/engine/test_workflow_kills.py::test_runs_survive_the_death_of_everything": (
        "A kill in the middle of work has no event to wait for."
    ),
    "tests/acceptance/nodes.py::calling": "The pause of a loop with an end, until a process answers.",
    "tests/acceptance/test_api.py::test_a_reader_that_does_not_read_costs_no_memory": (
        "Time in which the server could send too much; nothing tells that it does not."
    ),
    "tests/concurrency/waiting.py::until_somebody_waits_for": "The pause of a loop with an end.",
    "tests/integration/api/test_loop.py::_gzipped": "The watchdog ticks by the clock of the machine.",
    "tests/integration/api/test_loop.py::call": "The watchdog ticks by the clock of the machine.",
    "tests/integration/app/test_travel.py::hourly": "In virtual time: a job that sleeps is the story.",
    "tests/integration/client/test_waiting_claims.py::slow_claim": "A store that is slow is the story.",
    "tests/integration/engine/test_drains.py::live_and_leave": "A drain in the middle of work has no event.",
    "tests/integration/engine/test_drains.py::some_work": "Jobs that take a while; some outlast the drain.",
    "tests/kills/killing.py::_round": "A kill at a moment that chance decides.",
    "tests/kills/killing.py::all_at_once": "A kill at a moment that chance decides.",
    "tests/kills/posting.py::_pause": "A client that pauses between its calls.",
    "tests/unit/testing/test_virtual_loop.py::day": "In virtual time: sleeping is the story.",
    "tests/unit/testing/test_virtual_loop.py::main": "In virtual time: sleeping is the story.",
}

# Replaces a part of ours: the path of the test, and what could not be brought about otherwise.
MAY_PATCH: dict[str, str] = {
    "tests/acceptance/test_reconnect.py": "A time-out that is shorter than a person's patience.",
    "tests/acceptance/test_sqlite_threads.py": "The clock of the loop, which nobody can set.",
    "tests/contract/firings.py": "A time zone that an update of tzdata has removed.",
    "tests/contract/test_backfills.py": "A bug of ours, at one place.",
    "tests/contract/test_handovers.py": "Another writer between two steps of one verb.",
    "tests/contract/test_unreadable_runs.py": "A bug of ours, and a release that reads less.",
    "tests/contract/test_upkeep.py": "A limit that would take a million rows to reach.",
    "tests/integration/api/test_refusals.py": "A cursor that is signed, and still makes no sense.",
    "tests/integration/api/test_streams.py": "Pauses that are shorter than a person's patience.",
    "tests/integration/app/test_probes.py": "Limits that would take hundreds of connections to reach.",
    "tests/integration/client/test_waiting_claims.py": "A slow store, and a pause that must not matter.",
    "tests/integration/engine/test_handovers.py": "An answer that gets lost on the way, and a count of calls.",  # noqa: E501
    "tests/integration/engine/test_scheduler.py": "A store that is slow.",
    "tests/integration/engine/test_worker.py": "A store that is gone or silent, or changes between two steps.",  # noqa: E501
    "tests/simulator/test_planted_bugs.py": "Bugs are planted: that is the story.",
    "tests/unit/api/test_reading.py": "A request object of the framework, of which one field is read.",
    "tests/unit/app/test_door.py": "A bug of ours, and no pause after it.",
    "tests/unit/cli/test_reasons.py": "A terminal.",
    "tests/unit/cli/test_showing.py": "A terminal.",
    "tests/unit/proof/campaign/test_vitals.py": "The clock of the campaign, which is that of the machine.",
    "tests/unit/testing/test_virtual_loop.py": "A limit that would take minutes to reach.",
}

# Asserts by not raising: "path::function", and what would raise.
REFUSAL = "A refusal would raise."
MAY_ONLY_RUN: dict[str, str] = {
    "tests/acceptance/engine/test_waiting_at_start.py::test_a_database_that_is_started_later_is_waited_for": "A method of its process asserts what it says.",  # noqa: E501
    "tests/acceptance/test_hold.py::test_memory_and_a_server_are_not_held": REFUSAL,
    "tests/contract/test_calendars.py::test_a_deleted_job_gives_its_calendar_up": REFUSAL,
    "tests/contract/test_hints.py::test_without_a_server_announcing_and_listening_are_quiet_and_closing_is_quick": "A time-out would raise.",  # noqa: E501
    "tests/contract/test_stateful.py::test_a_store_agrees_with_the_model": "The state machine asserts.",
    "tests/house/test_workflow_docs.py::test_docs_workflows_can_be_kept": REFUSAL,
    "tests/integration/api/test_bad_input.py::test_6_and_8_what_is_documented_is_accepted": "A method of the office asserts the status.",  # noqa: E501
    "tests/integration/api/test_streams.py::test_a_stream_whose_reader_has_stopped_reading_ends_with_its_key": "A time-out would raise.",  # noqa: E501
    "tests/integration/engine/test_clock.py::test_who_got_an_answer_is_sure_without_asking": "A question to the store would raise.",  # noqa: E501
    "tests/integration/handlers/test_script.py::test_folders_that_a_script_locked_are_removed": "The fixture asserts that no folder is left.",  # noqa: E501
    "tests/integration/handlers/test_script_remains.py::test_a_folder_that_is_not_there_is_no_trouble": "Trouble would raise.",  # noqa: E501
    "tests/simulator/test_exam.py::test_every_bug_can_still_be_planted": REFUSAL,
    "tests/unit/app/test_declaring.py::test_importing_gnomon_brings_nothing_heavy_in": "The program that it runs asserts.",  # noqa: E501
    "tests/unit/app/test_door.py::test_the_door_is_watched_on_after_a_bug": "A time-out would raise.",
    "tests/unit/app/test_serving.py::test_localhost_is_an_address": REFUSAL,
    "tests/unit/core/test_document.py::test_what_a_name_says_is_the_business_of_its_owner": REFUSAL,
    "tests/unit/core/test_graph.py::test_a_diamond_is_no_circle": REFUSAL,
    "tests/unit/core/test_graph.py::test_a_full_graph_of_a_thousand_jobs_is_looked_at_once": REFUSAL,
    "tests/unit/core/test_kinds.py::test_a_kind_that_the_setting_names_is_known_although_it_is_not_installed": REFUSAL,  # noqa: E501
    "tests/unit/core/test_kinds.py::test_an_unknown_kind_may_be_allowed": REFUSAL,
    "tests/unit/core/test_kinds.py::test_where_nothing_is_known_no_kind_is_unknown": REFUSAL,
    "tests/unit/core/test_shards.py::test_schedulers_that_start_together_share_evenly_within_a_few_rounds": "A method of its cluster asserts.",  # noqa: E501
    "tests/unit/core/test_shards.py::test_when_schedulers_come_and_go_the_others_even_out": "A method of its cluster asserts.",  # noqa: E501
    "tests/unit/core/test_workflow_sense.py::test_what_makes_sense_is_taken": REFUSAL,
    "tests/unit/core/test_workflow_sense.py::test_what_was_kept_before_can_still_be_read": REFUSAL,
    "tests/unit/handlers/test_http_payload.py::test_a_full_payload_is_taken": REFUSAL,
    "tests/unit/handlers/test_http_payload.py::test_an_address_that_is_public_or_allowed_is_taken": REFUSAL,
    "tests/unit/handlers/test_registry.py::test_an_unknown_kind_is_no_mistake_when_a_job_is_saved": REFUSAL,
    "tests/unit/handlers/test_script_payload.py::test_a_good_payload_is_taken": REFUSAL,
    "tests/unit/test_logs.py::test_a_stream_that_is_gone_raises_nothing": "An error in the handler would raise.",  # noqa: E501
}


def test_no_test_sleeps_where_it_could_wait() -> None:
    must_be_empty([line for place, line in sleeps(ROOT) if place not in MAY_SLEEP])


def test_no_test_replaces_what_is_ours() -> None:
    must_be_empty([line for place, line in replacements(ROOT) if place not in MAY_PATCH])


def test_every_test_asserts_something() -> None:
    must_be_empty([line for place, line in silent_tests(ROOT) if place not in MAY_ONLY_RUN])


def test_the_exceptions_for_habits_are_still_needed() -> None:
    for allowed, found in (
        (MAY_SLEEP, sleeps(ROOT)),
        (MAY_PATCH, replacements(ROOT)),
        (MAY_ONLY_RUN, silent_tests(ROOT)),
    ):
        must_be_empty(stale(ROOT, allowed, listed_in=__file__))
        needed = {place for place, _ in found}
        must_be_empty(
            [f"{place}: needs no exception any more; remove the line." for place in allowed.keys() - needed]
        )


def test_bad_habits_are_found(plant: Plant) -> None:
    root = plant(
        "tests/test_a.py",
        """
        from unittest.mock import Mock

        async def test_sleeps(monkeypatch):
            await asyncio.sleep(0)
            await asyncio.sleep(1)
            while waiting():
                await asyncio.sleep(0.01)
            monkeypatch.setattr(store, "apply", nothing)
            assert_it()

        def assert_it():
            assert True

        def test_is_silent():
            print("fine")
        """,
    )
    assert [line.partition(": ")[0] for _, line in sleeps(root)] == ["tests/test_a.py:6"]
    assert [line.partition(": ")[0] for _, line in replacements(root)] == [
        "tests/test_a.py:2",
        "tests/test_a.py:9",
    ]
    assert [place for place, _ in silent_tests(root)] == ["tests/test_a.py::test_is_silent"]


def sleeps(root: Path) -> Iterator[tuple[str, str]]:
    """Those of a fixed time. A turn of the loop is none, nor is the pause of a loop that looks again."""
    for source in sources(root, under=UNDER):
        for function in functions(source):
            for node in _outside_of_loops(function):
                if (
                    isinstance(node, ast.Call)
                    and ast.unparse(node.func) in SLEEPS
                    and not _is_zero(node.args[0])
                ):
                    yield f"{source.place}::{function.name}", f"{source.at(node)}: {SLEEPS_TOLD}"


def replacements(root: Path) -> Iterator[tuple[str, str]]:
    for source in sources(root, under=UNDER):
        for node in ast.walk(source.tree):
            mocks = isinstance(node, ast.ImportFrom) and node.module in MOCKS
            if mocks or (isinstance(node, ast.Call) and ast.unparse(node.func) in PATCHES):
                yield source.place, f"{source.at(node)}: {PATCHES_TOLD}"


def silent_tests(root: Path) -> Iterator[tuple[str, str]]:
    """Neither they nor the functions that they call by name assert anything."""
    every = [(source, function) for source in sources(root, under=UNDER) for function in functions(source)]
    asserting = {function.name for _, function in every if _asserts(function)}
    while more := {
        function.name
        for _, function in every
        if function.name not in asserting and _called(function) & asserting
    }:
        asserting |= more
    for source, function in every:
        if _is_silent(source, function) and function.name not in asserting:
            yield (
                f"{source.place}::{function.name}",
                f"{source.at(function)}: {function.name} asserts nothing. Let it assert, or remove it.",
            )


def _is_silent(source: Source, function: Function) -> bool:
    is_test = Path(source.place).name.startswith("test_") and function.name.startswith("test_")
    return is_test and not _asserts(function)


def _asserts(function: Function) -> bool:
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in ASSERTIONS)
        or (
            isinstance(node, ast.Raise) and node.exc is not None and "AssertionError" in ast.unparse(node.exc)
        )
        for node in ast.walk(function)
    )


def _called(function: Function) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _outside_of_loops(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.While | Function):
            yield child
            yield from _outside_of_loops(child)


def _is_zero(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Constant) and argument.value == 0
