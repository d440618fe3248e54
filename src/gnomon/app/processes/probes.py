"""Probes and figures of a process: what they look at, and the port that serves them where there is no API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address

import msgspec

from gnomon import __version__
from gnomon.app.processes.engine import Engine
from gnomon.app.processes.opening import AnyDatabase
from gnomon.app.processes.remote import RemoteEngine
from gnomon.engine.node import Node
from gnomon.engine.telemetry import Telemetry
from gnomon.errors import StoreUnavailable
from gnomon.health.checks import Alive, Check, Ready, Version, readiness, ready, steps
from gnomon.health.metrics import CONTENT_TYPE, Inside, Metrics
from gnomon.health.responder import ProbePage, responding
from gnomon.health.vitals import PATIENCE_SECONDS, Vitals
from gnomon.settings import HealthSettings
from gnomon.settings.api import in_url
from gnomon.store.schema.migrations import refusal

logger = logging.getLogger(__name__)


@asynccontextmanager
async def probes_of(engine: Engine, chosen: HealthSettings) -> AsyncIterator[None]:
    """Of a process with a store. With the port off, nothing listens."""
    vitals, metrics = vitals_of(engine), Metrics(inside_of(engine))

    async def readyz() -> Ready:
        return readiness(await vitals.look(), vitals.age)

    async def figures() -> bytes:
        now = engine.clock.now()
        return metrics.text(await engine.store.reports.now(now), now=now)

    async with _served(chosen, readyz, figures):
        yield


@asynccontextmanager
async def remote_probes_of(engine: RemoteEngine, chosen: HealthSettings) -> AsyncIterator[None]:
    """Of a worker without a store: its server must answer. The figures of the store are the server's."""
    metrics = Metrics(_inside(engine.node, engine.telemetry))

    async def readyz() -> Ready:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await engine.read_clock()
        except TimeoutError as error:
            raise StoreUnavailable(f"no answer within {PATIENCE_SECONDS:g} s") from error
        return ready({"server": Check(ok=True, note="answers"), **steps(engine.node.signs.age)}, [])

    async def figures() -> bytes:
        return metrics.own_text()

    async with _served(chosen, readyz, figures):
        yield


def vitals_of(engine: Engine) -> Vitals:
    database = engine.store.database
    assert isinstance(database, AnyDatabase)

    async def schema() -> str | None:
        return refusal(database.dialect, await database.applied_migrations())

    age = engine.node.signs.age
    return Vitals(engine.clock.now, engine.store.clock, engine.store.schedules, schema, age)


def inside_of(engine: Engine) -> Inside:
    def shards() -> float | None:
        held = engine.shards_held()
        return None if held is None else len(held)

    return _inside(engine.node, engine.telemetry, shards)


def _inside(node: Node, telemetry: Telemetry, shards: Callable[[], float | None] = lambda: None) -> Inside:
    def gauges() -> dict[str, float | None]:
        age = node.signs.age("Worker")
        return {"last_poll_age": None if age is None else age.total_seconds(), "shards": shards()}

    return Inside(
        lambda: {
            **{str(what): count for what, count in telemetry.counts.items()},
            "scheduler_errors": node.signs.failed["Scheduler"],
        },
        lambda: {
            "queued": telemetry.queued,
            "ran": telemetry.ran,
            "late": telemetry.late,
            "polled": telemetry.polled,
        },
        gauges,
    )


@asynccontextmanager
async def _served(
    chosen: HealthSettings,
    readyz: Callable[[], Awaitable[Ready]],
    figures: Callable[[], Awaitable[bytes]],
) -> AsyncIterator[None]:
    if chosen.port is None:
        yield
        return

    async def livez_page() -> ProbePage:
        return _json(Alive())

    async def readyz_page() -> ProbePage:
        return _json(await readyz())

    async def version_page() -> ProbePage:
        return _json(Version(version=__version__))

    async def metrics_page() -> ProbePage:
        return ProbePage(await figures(), CONTENT_TYPE)

    pages = {
        "/livez": livez_page,
        "/readyz": readyz_page,
        "/version": version_page,
        "/metrics": metrics_page,
    }
    async with responding(pages, chosen.host, chosen.port) as port:
        logger.info("probes and metrics at http://%s", in_url(chosen.host, port))
        if not _is_own_machine(chosen.host):
            logger.warning("health.host %s can be reached from elsewhere; /metrics needs no key", chosen.host)
        yield


def _json(answer: msgspec.Struct) -> ProbePage:
    return ProbePage(msgspec.json.encode(answer))


def _is_own_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
