"""What is asked about a node itself, and the stream of events."""

from __future__ import annotations

from gnomon.api.described.call import CallDescription, Calls
from gnomon.api.described.field import Fields, flag, many, part, text, uuid, word
from gnomon.api.described.resources import recurring as often
from gnomon.api.serving.failures import Envelope, ErrorBody
from gnomon.core.values.events import EventType
from gnomon.errors import (
    EventsGone,
    JobNotFound,
    SchedulerUnavailable,
    SchemaMismatch,
    StoreRefused,
    StoreUnavailable,
)
from gnomon.health.checks import Alive, Check, Ready, Version

_OK = "ok"
_EVENT = "1774774800-12-0"
_POSITION = r"^[0-9]{1,18}-[0-9]{1,18}-[0-9]{1,9}$"

FIELDS: Fields = {
    Alive: {"status": word("It answers.", _OK, [_OK])},
    Check: {
        "ok": flag("The check succeeded.", True),
        "note": text("What was found, for people.", "answers", up_to=None),
    },
    Ready: {
        "status": word("It can serve. What cannot is refused with 503.", _OK, [_OK]),
        "checks": part("What was looked at, by name.").with_example(
            {"store": {"ok": True, "note": "answers"}}
        ),
        "warnings": many(
            "What does not stop it from serving.",
            text("A warning.", "clock_skew=7s: this machine's clock is not that of the database", up_to=None),
            up_to=None,
            example=[],
        ),
    },
    Version: {
        "name": word("The name of the program.", "gnomon", ["gnomon"]),
        "version": text("The version of this release.", "1.4.0", up_to=None),
        "api": word("The version of the API.", "v1", ["v1"]),
    },
    Envelope: {"error": part("What was wrong.")},
    ErrorBody: {
        "code": text(
            "The kind of the error, for programs. It does not change.", "INVALID_INPUT", pattern="^[A-Z_]+$"
        ),
        "message": text(
            "What was wrong, for people. The words may change.",
            "priority: 12 is not a whole number from 0 to 9.",
            up_to=None,
        ),
        "details": part("The facts of the error, by name, for programs.").with_example(
            {"field": "priority", "reason": "12 is not a whole number from 0 to 9."}
        ),
        "request_id": text("The id of the call: look for it in the log.", "nightly-42", up_to=None),
    },
}
_AFTER = text(
    "The id of an event: only later ones. `0-0-0` is the oldest that is kept.", _EVENT, pattern=_POSITION
)
_TYPES = "|".join(
    one.replace(".", r"\.")
    for one in [*EventType, *sorted({f"{one.partition('.')[0]}.*" for one in EventType})]
)
_SHOWN = (
    f'event: execution.completed\nid: {_EVENT}\ndata: {{"specversion":"1.0","id":"{_EVENT}",'
    f'"type":"execution.completed","subject":"executions/{often.EXECUTION}"}}\n\n'
)
CALLS: Calls = {
    "livez": CallDescription("Is it alive?"),
    "readyz": CallDescription(
        "Can it serve?", refusals=(SchedulerUnavailable, SchemaMismatch, StoreUnavailable, StoreRefused)
    ),
    "version": CallDescription("Get the version"),
    "metrics": CallDescription("Get metrics", answer="gnomon_queue_depth 12\n"),
    "openapi": CallDescription("Get the OpenAPI document", answer={"openapi": "3.1.0"}),
    "docs": CallDescription("Get the page about the API", answer="<!doctype html>..."),
    "style": CallDescription("Get the style of that page", answer="body { margin: 0; }"),
    "stream_events": CallDescription(
        "Follow events",
        parameters={
            "after": _AFTER,
            "types": text(
                "Only these types, with commas between; `execution.*` is all of a noun. Types: "
                f"{', '.join(EventType)}.",
                "execution.completed,execution.failed",
                pattern=f"^({_TYPES})(,({_TYPES}))*$".replace(r"\.*", r"\.\*"),
            ),
            "job_id": uuid("Only events of this job.", often.JOB),
            "Last-Event-ID": _AFTER.but("The same as `after`: browsers send it when they come again."),
        },
        refusals=(EventsGone, JobNotFound),
        answer=_SHOWN,
    ),
}
