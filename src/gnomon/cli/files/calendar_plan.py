"""The part of a plan that is about calendars. They belong to no file: one that a file does not name stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnomon.cli.files.steps import Action, Noun, PlanStep
from gnomon.cli.session.session import path_of
from gnomon.client.remote.server import Server
from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.time.calendars import Calendar, parse_dates
from gnomon.errors import InvalidInput


def dates_of(form: Mapping[str, Any], *, place: str) -> list[str]:
    """In order. Raises InvalidInput."""
    for word in form.keys() - {"name", "dates"}:
        raise InvalidInput(f"{place}.{word}", "is unknown; a calendar holds `name` and `dates`.")
    words = form.get("dates")
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InvalidInput(f"{place}.dates", "must be a list of dates such as '2030-12-25'.")
    found = Calendar(DEFAULT_TENANT, form["name"], parse_dates(words, field=f"{place}.dates"))
    return sorted(map(str, found.dates))


def calendar_steps(server: Server, wanted: Mapping[str, Sequence[str]]) -> list[PlanStep]:
    """`wanted` are the dates of each calendar of the file."""
    if not wanted:
        return []
    known = {one["name"] for one in server.pages("/v1/calendars", "calendars", limit=None)}
    return [_step(server, name, dates, is_new=name not in known) for name, dates in wanted.items()]


def _step(server: Server, name: str, dates: Sequence[str], *, is_new: bool) -> PlanStep:
    body: dict[str, Any] = {"dates": list(dates)}
    if is_new:
        return PlanStep(Action.CREATE, name, body, noun=Noun.CALENDAR, dates_added=dates)
    kept = server.get(path_of("calendars", name))
    if kept["dates"] == list(dates):
        return PlanStep(Action.KEEP, name, kept=kept, noun=Noun.CALENDAR)
    return PlanStep(
        Action.CHANGE,
        name,
        body | {"version": kept["version"]},
        kept,
        noun=Noun.CALENDAR,
        dates_added=[day for day in dates if day not in kept["dates"]],
        dates_removed=[day for day in kept["dates"] if day not in dates],
    )
