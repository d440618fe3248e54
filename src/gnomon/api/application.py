"""All routes in one application. What has no policy is not mounted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from litestar import Litestar
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler, WebsocketRouteHandler
from litestar.routes import HTTPRoute

from gnomon.api.described import pages as description
from gnomon.api.described.document import describe
from gnomon.api.resources import (
    backfills,
    calendars,
    dag_revisions,
    dag_runs,
    dag_tasks,
    dags,
    dead_letters,
    events,
    executions,
    health,
    jobs,
    keys,
    leases,
    metrics,
    schedules,
    tenants,
    workers,
)
from gnomon.api.resources import job_runs as runs
from gnomon.api.serving.aside import Desk, may_ever_take_long
from gnomon.api.serving.bodies import BodyLimits
from gnomon.api.serving.call import Call
from gnomon.api.serving.callers import Callers
from gnomon.api.serving.compression import Gzip
from gnomon.api.serving.edge import Edge
from gnomon.api.serving.failures import answer, offered
from gnomon.api.serving.gate import Gate
from gnomon.api.serving.policy import Policy, Rate
from gnomon.api.serving.presence import Presence
from gnomon.api.serving.rates import Rates
from gnomon.api.serving.room import LONG_READ_AT_ONCE, READ_AT_ONCE, AnswerRoom, Measured
from gnomon.api.serving.streams import Streams
from gnomon.client import Client
from gnomon.client.access.key_uses import KeyUses
from gnomon.health.metrics import Metrics
from gnomon.health.vitals import Vitals
from gnomon.settings import ApiSettings
from gnomon.store.operations.events import SqlEvents
from gnomon.store.operations.reports import SqlReports

Handler = HTTPRouteHandler | WebsocketRouteHandler

ROUTES: list[Handler] = [
    *health.ROUTES,
    *jobs.ROUTES,
    *runs.ROUTES,
    *schedules.ROUTES,
    *calendars.ROUTES,
    *dags.ROUTES,
    *dag_revisions.ROUTES,
    *dag_runs.ROUTES,
    *dag_tasks.ROUTES,
    *backfills.ROUTES,
    *executions.ROUTES,
    *dead_letters.ROUTES,
    *workers.ROUTES,
    *leases.ROUTES,
    *events.ROUTES,
    *keys.ROUTES,
    *tenants.ROUTES,
    *metrics.ROUTES,
    *description.ROUTES,
]

# What may compute for long, however small the call is: workflows have up to 20,000 tasks, and a job that
# comes back after a year has all the due times of a year to decide about.
LONG_ROUTES: list[Handler] = [
    *dags.ROUTES,
    *dag_revisions.ROUTES,
    *dag_runs.ROUTES,
    *dag_tasks.ROUTES,
    *backfills.ROUTES,
    *schedules.ROUTES,
    *dead_letters.ROUTES,
    *description.ROUTES,
    jobs.create_jobs,
    jobs.update_job,
    jobs.resume_job,
    jobs.cancel_job,
    jobs.delete_job,
    runs.explain_job,
    executions.explain_execution,
    executions.cancel_execution,
    executions.retry_execution,  # Of a task of a workflow, this repairs its run.
]
_LONG = {handler.fn for handler in LONG_ROUTES}

_RESERVED = frozenset({"request", "socket", "data", "return"})


@dataclass(frozen=True, slots=True)
class Api:
    """What an API stands on. `closing` is set when streams and long polls shall come to an end."""

    client: Client
    vitals: Vitals
    settings: ApiSettings
    new_request_id: Callable[[], str]
    events: SqlEvents
    reports: SqlReports
    metrics: Metrics
    version: str
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    presence: Presence = field(default_factory=Presence)
    key_uses: KeyUses = field(default_factory=KeyUses)


def application(api: Api, routes: Sequence[Handler] = ROUTES, *, desk: Desk | None = None) -> Edge:
    """An ASGI application. Long calls are served by the desk, if there is one.

    Raises TypeError for a route without a policy.
    """
    for handler in routes:
        _check(handler)
    now = api.client.now
    chosen = api.settings
    rates = {
        Rate.SUBMISSION: chosen.submissions_per_minute,
        Rate.QUERY: chosen.queries_per_minute,
        Rate.HEARTBEAT: chosen.heartbeats_per_minute,
        Rate.KEY: chosen.key_calls_per_minute,
        Rate.REFUSAL: chosen.refusals_per_minute,
    }
    callers = Callers(api.client, now, used=api.key_uses.note)
    streams = _streams(api, callers)
    gate = partial(
        Gate,
        callers=callers,
        rates=Rates(rates, now),
        streams=streams,
        presence=api.presence,
        body=BodyLimits(chosen.body_bytes_max, chosen.body.total_seconds()),
        desk=desk,
    )
    app = _framework(api, routes, callers, streams, [gate, _measured(api, READ_AT_ONCE)])
    for handler in handlers_of(app):
        handler.opt["query"] = _query_names(handler)
        handler.opt["is_long"] = handler.fn in _LONG
        handler.opt["may_take_long"] = isinstance(handler, HTTPRouteHandler) and may_ever_take_long(handler)
        handler.opt["takes_body"] = "data" in handler.parsed_fn_signature.parameters
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for one in route.route_handlers:
                one.opt["offered"] = offered(route.methods)
    return Edge(app, new_id=api.new_request_id, observe=api.metrics.observe, presence=api.presence)


def served_aside(api: Api) -> Litestar:
    """The same routes for calls that the gate of `application` has let in: see aside.py."""
    callers = Callers(api.client, api.client.now, used=api.key_uses.note)
    return _framework(api, ROUTES, callers, _streams(api, callers), [Gzip, _measured(api, LONG_READ_AT_ONCE)])


def _measured(api: Api, at_once: int) -> Any:
    return partial(Measured, room=AnswerRoom(api.settings.answer_bytes_per_key, at_once=at_once))


def _streams(api: Api, callers: Callers) -> Streams:
    chosen = api.settings
    return Streams(callers.is_valid, per_key=chosen.streams_per_key, per_tenant=chosen.streams_per_tenant)


def _framework(
    api: Api, routes: Sequence[Handler], callers: Callers, streams: Streams, middleware: Sequence[Any]
) -> Litestar:
    app = Litestar(
        routes,
        request_class=Call,
        request_max_body_size=None,  # The gate knows the limit of each route.
        middleware=middleware,
        exception_handlers={Exception: answer},
        logging_config=None,
        openapi_config=None,
        state=State(
            {
                "api": api,
                "callers": callers,
                "streams": streams,
                "describe": cache(lambda: describe(routes, api.version)),
            }
        ),
    )
    for handler in handlers_of(app):
        is_page = "limit" in _query_names(handler) or handler.fn in _LONG
        handler.opt["answers_at_length"] = is_page and handler.opt["policy"].scope is not None
    return app


def handlers_of(app: Litestar) -> list[Handler]:
    """Every handler that is mounted, but for those that the framework adds by itself."""
    found: dict[int, Any] = {}
    for route in app.routes:
        for handler in getattr(route, "route_handlers", None) or [getattr(route, "route_handler", None)]:
            if isinstance(handler, Handler) and "policy" in handler.opt:
                found[id(handler)] = handler
    return list(found.values())


def _check(handler: Handler) -> None:
    if not isinstance(handler.opt.get("policy"), Policy):
        raise TypeError(f"{handler.fn.__name__} has no policy: say who may call it, or it is not mounted.")


def _query_names(handler: Handler) -> frozenset[str]:
    """The parameters of the query: what is neither in the path nor ours."""
    names = set()
    in_path = {part for path in handler.paths for part in _path_names(path)}
    for name, parameter in handler.parsed_fn_signature.parameters.items():
        if name in _RESERVED or name in in_path:
            continue
        names.add(getattr(parameter.kwarg_definition, "name", None) or name)
    return frozenset(names)


def _path_names(path: str) -> list[str]:
    return [part.partition(":")[0].strip("{") for part in path.split("/") if part.startswith("{")]
