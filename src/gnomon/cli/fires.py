"""The next fire times of what a file says and of what a server has, to be compared in a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gnomon.cli.talking import path_of
from gnomon.client.remote.server import Server

FIRES = 5  # Of each schedule that are compared.
FIRES_LOOKED_AT = 50  # Where the file itself says which dates are closed.

# By the name of a calendar, the dates that the file says.
ClosedDates = Mapping[str, Collection[str]]


def next_fires(server: Server, kept: Mapping[str, Any], id: str) -> list[str]:
    """Of a job or a workflow that the server has."""
    if kept["status"] != "ACTIVE":
        return []
    fires = server.get(path_of("jobs", id, "preview"), limit=FIRES)["fires"]
    return [fire["nominal_time"] for fire in fires if fire["skip"] is None]


def fires_of(server: Server, name: str, schedule: Mapping[str, Any], closed: ClosedDates) -> list[str]:
    """Of a schedule. A calendar that is in the file counts as the file says it."""
    if schedule["type"] == "manual":
        return []
    calendar = schedule.get("calendar")
    dates = closed.get(calendar) if calendar is not None else None
    limit = FIRES
    if dates is not None:
        schedule = {word: value for word, value in schedule.items() if word != "calendar"}
        limit = FIRES_LOOKED_AT
    form = {"schedule": schedule, "name": name, "limit": limit}
    fires = server.post("/v1/schedules/preview", form)["fires"]
    times = [
        fire["nominal_time"]
        for fire in fires
        if fire["skip"] is None and fire["local_time"][:10] not in (dates or ())
    ]
    return times[:FIRES]


def come_and_go(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    ends = [fires[-1] for fires in (before, after) if len(fires) == FIRES]
    until = min(ends) if ends else None  # Beyond it, one of them was not asked.
    removed = [at for at in before if at not in after and (until is None or at <= until)]
    added = [at for at in after if at not in before and (until is None or at <= until)]
    return added, removed
