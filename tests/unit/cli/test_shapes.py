"""Jobs of files and of servers, in one shape."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon.cli.files.shapes import difference, form_of, patch_of, wanted_shape

FORMS: list[dict[str, Any]] = [
    {"kind": "dummy"},
    {"kind": "python", "payload": {"function": "f"}, "tags": ["b", "a"], "dependencies": ["x"]},
    {"payload": {"endpoint": "https://example.org", "body": {"a": 1}}},
    {"kind": "x", "cron": "0 9 * * *", "timezone": "Europe/Berlin", "gap": "skip", "jitter_seconds": 5},
    {"kind": "x", "schedule": {"type": "cron", "expression": "@daily"}, "overlap_policy": "skip"},
    {"kind": "x", "interval_seconds": 90, "anchor": "2026-01-01T00:00:00Z", "max_runs": 3},
    {"kind": "x", "run_at": "2020-01-01T00:00:00Z", "if_past": "run_now"},
    {"kind": "x", "delay_seconds": 1.5, "misfire_policy": "IGNORE", "priority": 9, "queue": "mail"},
    {"kind": "x", "retry_config": {"max_retries": 0, "retry_on": ["bad"]}, "timeout_seconds": 3},
    {"kind": "x", "capabilities": ["gpu"], "max_concurrent": 2, "delivery": "at_most_once"},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_shortest_form_of_a_shape_has_that_shape(form: dict[str, Any]) -> None:
    shape = wanted_shape({"name": "a", **form})
    short = form_of(shape, name="a")
    assert wanted_shape(short) == shape
    assert form_of(wanted_shape(short), name="a") == short


def test_what_is_as_the_default_says_is_not_said() -> None:
    form = {"name": "a", "kind": "x", "cron": "@daily"}
    usual = {"timezone": "UTC", "gap": "shift", "fold": "first", "priority": 5, "overlap_policy": "allow"}
    assert form_of(wanted_shape(form | usual), name="a") == form


def test_what_a_schedule_no_longer_says_is_taken_back() -> None:
    before = wanted_shape({"name": "a", "kind": "x", "cron": "0 9 * * *", "max_runs": 3})
    after = wanted_shape({"name": "a", "kind": "x", "cron": "0 10 * * *"})
    patch = patch_of(difference(before, after))
    assert patch.keys() == {"schedule"}
    assert (patch["schedule"]["cron"], patch["schedule"]["max_runs"]) == ("0 10 * * *", None)


def test_where_an_interval_begins_is_no_difference_unless_the_file_says_it() -> None:
    form = {"name": "a", "kind": "x", "interval_seconds": 90}
    anchored = wanted_shape(form | {"anchor": "2026-01-01T00:00:00Z"})
    assert difference(anchored, wanted_shape(form)) == {}
    assert difference(wanted_shape(form), anchored).keys() == {"schedule"}
