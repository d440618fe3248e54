"""Beside cronsim and croniter: equal where the dialects agree, different only as the documentation says.

The tables of the documentation are the test data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from croniter import CroniterError, croniter
from cronsim import CronSim, CronSimError
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.core.time import zones
from gnomon.core.time.cron import parse
from gnomon.core.time.dst import times
from gnomon.errors import InvalidCron
from tests.unit.core.expressions import lists, words

DOCS = Path(__file__).parents[3] / "docs"
NEW_YEAR = datetime.fromisoformat("2026-01-01")

five_plain_fields = st.tuples(
    lists(words(0, 59)),
    lists(words(0, 23)),
    st.one_of(st.just("*"), lists(st.one_of(st.integers(1, 31).map(str), st.just("1-7")))),
    st.one_of(st.just("*"), lists(st.one_of(words(1, 12), st.sampled_from(["JAN", "DEC"])))),
    st.one_of(
        st.just("*"), lists(st.one_of(st.integers(0, 7).map(str), st.sampled_from(["SUN", "MON-FRI"])))
    ),
).map(" ".join)
# The peers take 5-5/9, and croniter 5-5 and 23/1 too, for more than one value: see the table.
RANGE_OF_ONE = re.compile(r"\b(\d+)-\1\b|\b(59|23|12)/")
moments = st.datetimes(
    min_value=datetime.fromisoformat("1990-01-01"), max_value=datetime.fromisoformat("2060-01-01")
)

Fires = Callable[[str, datetime], Iterator[datetime]]


def gnomon_fires(expression: str, after: datetime) -> Iterator[datetime]:
    """Civil times after a naive datetime, local times of the zone after an aware one."""
    schedule = parse(expression) if after.tzinfo is None else times(expression, str(after.tzinfo))
    found = schedule.next(after)
    while found is not None:
        yield found.astimezone(after.tzinfo) if after.tzinfo else found
        found = schedule.next(found)


def cronsim_fires(expression: str, after: datetime) -> Iterator[datetime]:
    yield from CronSim(expression, after)


def croniter_fires(expression: str, after: datetime) -> Iterator[datetime]:
    walk = croniter(expression, after)
    while True:
        yield walk.get_next(datetime)


LIBRARIES: dict[str, Fires] = {"Gnomon": gnomon_fires, "cronsim": cronsim_fires, "croniter": croniter_fires}
REFUSALS = (InvalidCron, CronSimError, CroniterError)


@settings(max_examples=300, deadline=None)
@given(five_plain_fields, moments)
def test_plain_expressions_mean_the_same_to_cronsim(expression: str, after: datetime) -> None:
    assume(not RANGE_OF_ONE.search(expression))
    assume(is_accepted(expression))

    assert list(islice(gnomon_fires(expression, after), 4)) == list(
        islice(cronsim_fires(expression, after), 4)
    )


@settings(max_examples=150, deadline=None)
@given(five_plain_fields, moments)
def test_plain_expressions_mean_the_same_to_croniter(expression: str, after: datetime) -> None:
    assume(not RANGE_OF_ONE.search(expression))
    assume(is_accepted(expression))

    assert list(islice(gnomon_fires(expression, after), 4)) == list(
        islice(croniter_fires(expression, after), 4)
    )


def is_accepted(expression: str) -> bool:
    try:
        parse(expression)
    except InvalidCron:
        return False
    return True


def table_rows(page: str) -> list[dict[str, str]]:
    """The rows of the page's table "Compared with other libraries"."""
    text = (DOCS / page).read_text("utf-8").partition("## Compared with other libraries")[2]
    text = text.partition("\n## ")[0]
    lines = [re.split(r" *\| *", line.strip("| \n")) for line in text.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


@pytest.mark.parametrize("row", table_rows("reference/cron.md"), ids=lambda row: row["Expression"])
def test_the_reference_tells_how_each_library_reads_an_expression(row: dict[str, str]) -> None:
    for library, fires in LIBRARIES.items():
        try:
            first_two = islice(fires(row["Expression"].strip("`"), NEW_YEAR), 2)
            told = ", ".join(f"{civil:%m-%d %H:%M:%S}".removesuffix(":00") for civil in first_two)
        except REFUSALS:
            told = "refused"
        assert told == row[library], library
    assert len({row[library] for library in LIBRARIES}) > 1


@pytest.mark.parametrize(
    "row",
    table_rows("explanation/daylight-saving.md"),
    ids=lambda row: f"{row['Expression']} {row['Zone']} {row['Day']}",
)
def test_the_explanation_tells_what_each_library_fires_on_a_hard_day(row: dict[str, str]) -> None:
    for library, fires in LIBRARIES.items():
        try:
            fired = on_day(fires, row["Expression"].strip("`"), row["Zone"], row["Day"])
        except REFUSALS:
            fired = ["refused"]
        told = " ".join(fired) or "none"
        assert row[library] in (told, f"{len(fired)} fires"), library


def on_day(fires: Fires, expression: str, zone: str, day: str) -> list[str]:
    midnight = datetime.fromisoformat(day).replace(tzinfo=UTC)
    fired = []
    for local in fires(expression, (midnight - timedelta(days=1)).astimezone(zones.zone(zone))):
        if f"{local:%Y-%m-%d}" > day:
            break
        if f"{local:%Y-%m-%d}" == day:
            fired.append(f"{local:%H:%M%z}")
    return fired
