"""The map of the rooms is true: its ways are walked, and the functions on them are entered in that order."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, cast

import httpx

from gnomon import Gnomon
from gnomon.api import Api, application
from gnomon.core.executions.execution import WorkerId
from gnomon.core.executions.lease import LEASE, ClaimRequest
from gnomon.engine.schedulers.reaper import Reaper
from gnomon.engine.telemetry import Telemetry
from gnomon.health.metrics import Metrics
from gnomon.health.vitals import Vitals
from gnomon.settings import ApiSettings
from gnomon.testing import Inline, ManualClock, inline
from tests.house.conftest import Plant
from tests.house.pages import read, section
from tests.house.tree import LAYERS, PACKAGE, ROOT, Source, must_be_empty, sources

MAP = "docs/internals/map.md"
HOP = re.compile(r"^\| \d+ \| `(?P<place>[\w/]+\.py)::(?P<name>[\w.]+)` \|", re.MULTILINE)
NAMED = re.compile(r"`(?P<place>src/[\w/]+\.py)::(?P<name>[\w.]+)`")
ROOM_ROW = re.compile(r"^\| \[`([\w/.]+)`\]\([^)]+\) \| (.+) \|$", re.MULTILINE)
# They are moving out of the package, and have a description of their own.
NOT_ON_THE_MAP = ("proof", "testing/sim")

Entered = list[tuple[str, str]]  # The place and the name of each function, whenever it was entered.

app = Gnomon("sqlite://:memory:")


@app.job()
def add(a: int, b: int) -> int:
    return a + b


@app.job()
def double(number: int) -> int:
    return 2 * number


@app.dag
def add_and_double() -> None:
    double(add(a=1, b=2))


async def test_the_way_of_a_job_is_as_on_the_map() -> None:
    payload = {"function": "add", "arguments": {"a": 1, "b": 2}}
    job = {"name": "sum", "cron": "0 * * * *", "kind": "python", "payload": payload}
    async with office() as (run, http):
        with following() as entered:
            answer = await http.post("/v1/jobs", json=job)
            await run.advance(timedelta(hours=1))
    assert answer.status_code == 201, answer.text
    must_be_empty(missed_hops(hops(ROOT, "The way of one job"), entered))


async def test_the_way_of_a_run_is_as_on_the_map() -> None:
    async with office() as (run, http):
        dag = await run.client.dags.named("add_and_double")
        with following() as entered:
            answer = await http.post(f"/v1/dags/{dag.job.id}/trigger", json={})
            await run.drain()
    assert answer.status_code == 201, answer.text
    must_be_empty(missed_hops(hops(ROOT, "The way of one run"), entered))


async def test_the_way_back_from_a_dead_worker_is_as_on_the_map() -> None:
    async with office() as (run, _):
        await add.enqueue(a=1, b=2)
        now = run.clock.now()
        request = ClaimRequest(run.ids.next(now), WorkerId("dead"), kinds=frozenset({"python"}))
        [_] = await run.store.executions.claim(request, now=now, lease_until=now + LEASE)
        reaper = Reaper(
            executions=run.store.executions, clock=run.clock, random=Random(1), telemetry=Telemetry()
        )
        with following() as entered:
            for _ in range(2 * int(LEASE.total_seconds())):
                run.clock.advance(timedelta(seconds=1))
                await reaper.step()
    must_be_empty(missed_hops(hops(ROOT, "The way back from a dead worker"), entered))


def test_every_function_on_the_map_exists() -> None:
    must_be_empty(missing_functions(ROOT))


def test_the_map_has_every_room() -> None:
    must_be_empty(wrong_rooms(ROOT))


def test_a_hop_that_is_not_made_is_found() -> None:
    way = [("a.py", "x"), ("b.py", "C.y"), ("a.py", "x")]
    assert missed_hops(way, [("a.py", "x"), ("z.py", "z"), ("b.py", "C.y"), ("a.py", "x")]) == []
    assert missed_hops(way, [("b.py", "C.y"), ("a.py", "x"), ("b.py", "C.y")]) == [
        f"{MAP}: after b.py::C.y, a.py::x was not entered. It was entered before."
    ]
    assert missed_hops(way, [("a.py", "x")]) == [f"{MAP}: after a.py::x, b.py::C.y was not entered."]


def test_a_function_and_a_room_that_are_gone_are_found(plant: Plant) -> None:
    plant(f"{PACKAGE}/core/time/__init__.py", '"""When.\n\nIn: a.\nOut: b.\n"""')
    plant(f"{PACKAGE}/core/__init__.py", '"""Pure."""')
    plant(f"{PACKAGE}/core/time/cron.py", "class Cron:\n    def next(self): ...\n")
    root = plant(
        MAP,
        """\
        | [`core`](x) | Pure. |
        | [`core/gone`](x) | Gone. |
        | 1 | `src/gnomon/core/time/cron.py::Cron.next` | x |
        | 2 | `src/gnomon/core/time/cron.py::Cron.gone` | x |
        """,
    )
    assert missing_functions(root) == [f"{MAP}: there is no Cron.gone in src/gnomon/core/time/cron.py."]
    assert wrong_rooms(root) == [
        f"{MAP}: the row of core/time should say 'When.', as its `__init__` does.",
        f"{MAP}: there is no room core/gone.",
    ]


# Walking --------------------------------------------------------------------------------------------


@asynccontextmanager
async def office() -> AsyncIterator[tuple[Inline, httpx.AsyncClient]]:
    """The app on a store in memory, with production services driven by hand, and the API in front of it."""
    clock = ManualClock(datetime(2030, 1, 1, tzinfo=UTC))

    async def fits() -> None:
        return None

    async def now() -> datetime:
        return clock.now()

    async with inline(app, clock=clock) as run:
        api = Api(
            client=run.client,
            vitals=Vitals(clock.now, now, run.store.schedules, fits),
            settings=ApiSettings(),
            new_request_id=lambda: "req_1",
            events=run.store.events,
            reports=run.store.reports,
            metrics=Metrics(),
            version="test",
        )
        key = await run.client.keys.create("test", ["admin"])
        transport, headers = (
            httpx.ASGITransport(cast("Any", application(api))),
            {"Authorization": f"Bearer {key.text}"},
        )
        async with httpx.AsyncClient(
            transport=transport, base_url="http://gnomon.test", headers=headers
        ) as http:
            yield run, http


@contextmanager
def following() -> Iterator[Entered]:
    """Which functions of the package are entered, in order. A coroutine is entered again when it goes on."""
    entered: Entered = []
    below = f"{ROOT}/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(below):
            entered.append((code.co_filename.removeprefix(below), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(before)


def hops(root: Path, way: str) -> Entered:
    found = HOP.findall(section(read(root, MAP), way))
    assert found, f"{MAP}: no hops under {way!r}."
    return found


def missed_hops(way: Entered, entered: Entered) -> list[str]:
    """The first hop that is not made after the one before it."""
    at, before = 0, "the beginning"
    for hop in way:
        name = "::".join(hop)
        if hop not in entered[at:]:
            earlier = " It was entered before." if hop in entered else ""
            return [f"{MAP}: after {before}, {name} was not entered.{earlier}"]
        at, before = entered.index(hop, at) + 1, name
    return []


# Looking --------------------------------------------------------------------------------------------


def missing_functions(root: Path) -> list[str]:
    known = {source.place: set(functions_of(source)) for source in sources(root)}
    return [
        f"{MAP}: there is no {name} in {place}."
        for place, name in NAMED.findall(read(root, MAP))
        if name not in known.get(place, ())
    ]


def functions_of(source: Source) -> Iterator[str]:
    for node in source.tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                        yield f"{name}.{inner.name}"


def wrong_rooms(root: Path) -> list[str]:
    """Each folder of the package has a row, with the first sentence of its `__init__`."""
    rows = dict(ROOM_ROW.findall(read(root, MAP)))
    wanted = dict(sorted(rooms(root)))
    found = [
        f"{MAP}: the row of {room} should say {said!r}, as its `__init__` does."
        for room, said in wanted.items()
        if rows.get(room) != said
    ]
    return found + [f"{MAP}: there is no room {room}." for room in rows if room not in wanted]


def rooms(root: Path) -> Iterator[tuple[str, str]]:
    for source in sources(root):
        name = str(Path(source.place).relative_to(PACKAGE)).removesuffix("/__init__.py")
        is_room = name != source.place.removeprefix(f"{PACKAGE}/") or name in {
            f"{layer}.py" for layer in LAYERS
        }
        if is_room and not name.startswith(NOT_ON_THE_MAP):
            said = (ast.get_docstring(source.tree) or "").partition("\n\n")[0]
            yield name, " ".join(said.split())
