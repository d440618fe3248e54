"""The next fire times of what a file says and of what a server has, to be compared in a plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.cli.session.session import path_of
from gnomon.client.remote.server import Server

FIRES_SHOWN = 5  # Of each schedule.
FIRES_LOOKED_AT = 50  # So that a daily schedule and one that becomes weekly can be compared.

# By the name of a calendar, the dates that the file says.
ClosedDates = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Fires:
    """`known_until`: there may be more after this time. None: these are all."""

    times: Sequence[str] = ()
    known_until: str | None = None

    @property
    def first(self) -> Sequence[str]:
        return self.times[:FIRES_SHOWN]


def next_fires(server: Server, kept: Mapping[str, Any], id: str) -> Fires:
    """Of a job or a workflow that the server has."""
    if kept["status"] != "ACTIVE":
        return Fires()
    return _read(server.get(path_of("jobs", id, "preview"), limit=FIRES_LOOKED_AT)["fires"])


def fires_of(server: Server, name: str, schedule: Mapping[str, Any], closed: ClosedDates) -> Fires:
    """Of a schedule. A calendar that is in the file counts as the file says it."""
    if schedule["type"] == "manual":
        return Fires()
    calendar = schedule.get("calendar")
    dates = closed.get(calendar) if calendar is not None else None
    if dates is not None:
        schedule = {word: value for word, value in schedule.items() if word != "calendar"}
    form = {"schedule": schedule, "name": name, "limit": FIRES_LOOKED_AT}
    return _read(server.post("/v1/schedules/preview", form)["fires"], closed=dates or ())


def come_and_go(before: Fires, after: Fires) -> tuple[list[str], list[str]]:
    """The first that come and the first that go, as far as both are known."""
    ends = [fires.known_until for fires in (before, after) if fires.known_until is not None]
    until = min(ends) if ends else None
    removed = [at for at in before.times if at not in after.times and (until is None or at <= until)]
    added = [at for at in after.times if at not in before.times and (until is None or at <= until)]
    return added[:FIRES_SHOWN], removed[:FIRES_SHOWN]


def _read(fires: Sequence[Mapping[str, Any]], *, closed: Collection[str] = ()) -> Fires:
    times = [
        fire["nominal_time"]
        for fire in fires
        if fire["skip"] is None and fire["local_time"][:10] not in closed
    ]
    return Fires(times, fires[-1]["nominal_time"] if len(fires) == FIRES_LOOKED_AT else None)
