"""Workflows that are written in Python: what a function may say, how it runs, and what it is refused."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from gnomon import Context, Gnomon, InvalidInput, JobFailed, Schedule
from gnomon.core.runs.run import Run
from gnomon.core.runs.state import RunStatus
from gnomon.core.values.document import JSON
from gnomon.core.workflows.references import parse
from gnomon.errors import GnomonError, InvalidDag
from gnomon.testing import ManualClock, inline
from gnomon.testing.inline_run import Inline

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@dataclass
class Order:
    number: int
    euro: int


@pytest.fixture
def app() -> Gnomon:
    return Gnomon("sqlite:///nowhere/at/all.db")


async def ended(run: Inline, of: Run) -> dict[str, tuple[str, JSON]]:
    """How each task ended, and its last result."""
    found = {}
    for task in await run.client.runs.tasks(of):
        result: JSON = None
        for one in task.run.executions:
            kept = (await run.client.executions.get(one)).result
            result = kept.value if kept else None
        found[task.name] = (str(task.run.state.status), result)
    return found


# What runs ---------------------------------------------------------------------------------------------

NAMES = [
    "plain",
    "with-hyphen",
    "my.job",
    "a job",
    "a[0]",
    "]['x']",
    "{braces}",
    "}",
    "${tasks.a.result}",
    "$${config.a",
    "it's",
    'so "quoted"',
    "„so“ ‚so‘ «so» `so` ’so’",
    "back\\slash",
    'end\\"',
    "line\nbreak\ttab",
    "Zeit für Grüße 🎉",
    "0",
    "result",
    "x" * 250,
    '"' * 250,
    "\x01" * 20,
]


@pytest.mark.parametrize("name", NAMES)
async def test_a_name_is_just_a_name(app: Gnomon, name: str) -> None:
    @app.job(name=name)
    def grow(a: int) -> dict[str, int]:
        return {name: a + 1}

    @app.dag(name=f"dag {name}"[:200])
    def twice() -> None:
        grow(grow(1)[name])

    async with inline(app, clock=ManualClock(NOON)) as run:
        asked = await twice.trigger()
        await run.drain()
        assert await ended(run, asked) == {
            name: ("COMPLETED", {name: 2}),
            f"{name}_2": ("COMPLETED", {name: 3}),
        }


async def test_a_reference_that_is_escaped_stands_for_itself(app: Gnomon) -> None:
    @app.job()
    def echo(text: str) -> str:
        return text

    @app.dag
    def plain() -> None:
        echo("$${tasks.echo.result}")

    async with inline(app, clock=ManualClock(NOON)) as run:
        asked = await plain.trigger()
        await run.drain()
        assert await ended(run, asked) == {"echo": ("COMPLETED", "${tasks.echo.result}")}


async def test_a_promise_has_parts_and_may_be_anywhere_in_an_argument(app: Gnomon) -> None:
    @app.job()
    def order() -> dict[str, Any]:
        return {"number": 7, "lines": [{"euro": 2}, {"euro": 3}]}

    @app.job()
    def total(order: Order, more: dict[str, list[int]]) -> int:
        return order.number + order.euro + more["of"][0]

    @app.dag
    def shop() -> None:
        placed = order()
        lines = placed["lines"]
        total(Order(placed["number"], lines[0]["euro"]), more={"of": (lines[1]["euro"],)})  # type: ignore[dict-item]

    async with inline(app, clock=ManualClock(NOON)) as run:
        asked = await shop.trigger()
        await run.drain()
        assert (await ended(run, asked))["total"] == ("COMPLETED", 12)


async def test_parameters_are_the_configuration(app: Gnomon) -> None:
    @app.job()
    def add(a: int, b: int) -> int:
        return a + b

    @app.dag(config={"scale": 3})
    def sums(a: int, b: int = 2) -> None:
        add(a, b)
        add(a, "${config.scale}")  # type: ignore[arg-type]

    assert sums.document["config"] == {"b": 2, "scale": 3}
    async with inline(app, clock=ManualClock(NOON)) as run:
        one, two = await sums.trigger(a=1), await sums.trigger(a=1, b=20)
        await run.drain()
        assert await ended(run, one) == {"add": ("COMPLETED", 3), "add_2": ("COMPLETED", 4)}
        assert (await ended(run, two))["add"] == ("COMPLETED", 21)
        with pytest.raises(InvalidInput, match=r"config\.a: is missing; the workflow 'sums' needs it"):
            await sums.trigger(b=1)


async def test_tasks_have_names_rules_and_conditions(app: Gnomon) -> None:
    @app.job(retries=0)
    def count(rows: int) -> dict[str, Any]:
        if rows < 0:
            raise JobFailed("less than nothing", permanent=True)
        return {"rows": rows, "kind": "daily"}

    @app.job()
    def tell(what: str) -> str:
        return what

    @app.dag(tags=["eu", "shop"], failure_strategy="FAIL_DOWNSTREAM", allow_partial_completion=True)
    def report(rows: int = 5) -> None:
        counted = count(rows)
        big = tell.task(name="big day", when=counted["rows"] >= 5)("big")
        small = tell.task(name="small day", when=[counted["rows"] < 5, counted["kind"] == "daily"])("small")
        tell.task(name="sent", after=[big, small], trigger_rule="none_failed")("sent")
        tell.task(name="alarm", after=counted, trigger_rule="one_failed")("alarm")
        tell.task(name="daily", when=counted["kind"].is_in(["daily", "weekly"]))("d")
        tell.task(name="odd", when=counted["odd"].exists())("odd")

    async with inline(app, clock=ManualClock(NOON)) as run:
        many, few, broken = [await report.trigger(rows=rows) for rows in (9, 1, -1)]
        await run.drain()

        found = {name: status for name, (status, _) in (await ended(run, many)).items()}
        assert found == {
            "count": "COMPLETED",
            "big day": "COMPLETED",
            "small day": "SKIPPED",
            "sent": "COMPLETED",
            "alarm": "SKIPPED",
            "daily": "COMPLETED",
            "odd": "SKIPPED",
        }
        assert (await ended(run, few))["small day"] == ("COMPLETED", "small")
        assert (await ended(run, broken))["alarm"] == ("COMPLETED", "alarm")
        assert (await run.client.dags.named("report")).job.tags == {"eu", "shop"}


async def test_a_job_runs_for_each_item_and_the_results_are_one_list(app: Gnomon) -> None:
    @app.job()
    def shops() -> list[dict[str, Any]]:
        return [{"id": "eu", "rows": 2}, {"id": "us", "rows": 3}]

    @app.job()
    def load(shop: dict[str, Any], factor: int = 1) -> int:
        return int(shop["rows"]) * factor

    @app.job()
    def name(id: str, place: int) -> str:
        return f"{place} {id}"

    @app.job()
    def total(rows: list[Any]) -> str:
        return " ".join(map(str, rows))

    @app.dag
    def every_shop(known: list[Any] = [{"rows": 7}]) -> None:  # noqa: B006
        found = shops()
        total(load.map(found, factor=10))
        total(name.task(over=found, limit=5)("${item.id}", place="${index}"))
        total(load.map(known))
        total(load.task(name="fixed").map([{"rows": 1}, {"rows": 2}]))

    async with inline(app, clock=ManualClock(NOON), slots=4) as run:
        asked = await every_shop.trigger()
        fewer = await every_shop.trigger(fixed=[])
        await run.drain()
        found = await ended(run, asked)
        totals = [found[task][1] for task in ("total", "total_2", "total_3", "total_4")]
        assert totals == ["20 30", "0 eu 1 us", "7", "1 2"]
        assert (await ended(run, fewer))["total_4"] == ("COMPLETED", "")


async def test_a_workflow_in_a_workflow(app: Gnomon) -> None:
    done: list[str] = []

    @app.job()
    def load(shop: str) -> str:
        done.append(shop)
        return shop

    @app.dag
    def one_shop(shop: str) -> None:
        load(shop)

    @app.dag
    def all_shops(last: str = "asia") -> None:
        eu = one_shop(shop="eu")
        us = one_shop.task(name="the us", after=eu)(shop=load("us"))
        app.sub_dag("one_shop", config={"shop": last}, name="last", after=us)

    async with inline(app, clock=ManualClock(NOON), slots=1) as run:
        asked = await all_shops.trigger()
        await run.drain()
        assert (await run.client.runs.get(asked.id)).status is RunStatus.COMPLETED
        tasks = {task.name: set(task.depends_on) for task in await run.client.runs.tasks(asked)}
    assert tasks == {"one_shop": set(), "load": set(), "the us": {"one_shop", "load"}, "last": {"the us"}}
    assert sorted(done) == ["asia", "eu", "us", "us"]

    with pytest.raises(InvalidInput, match=r"one_shop: is a workflow; run it with `await ….trigger\(\)`"):
        one_shop(shop="eu")
    with pytest.raises(InvalidInput, match=r"config\.shop: is missing; the workflow 'one_shop' needs it"):

        @app.dag
        def forgetful() -> None:
            one_shop()


async def test_people_and_events(app: Gnomon) -> None:
    @app.job()
    def build() -> str:
        return "7"

    @app.job()
    def ship(euro: int) -> int:
        return euro

    @app.dag
    def release() -> None:
        built = build()
        review = app.approval("review", after=built, timeout=timedelta(hours=1))
        paid = app.event("payment", correlation=built, timeout=3600)
        app.event("weather", name="sunshine", when=built == "8")
        ship.task(after=review)(paid["euro"])

    async with inline(app, clock=ManualClock(NOON)) as run:
        good, late = await release.trigger(), await release.trigger()
        await run.drain()
        await run.client.runs.approve(good.id, "review", by="ada")
        await run.client.runs.send("payment", correlation="7", data={"euro": 5})
        await run.drain()
        assert (await ended(run, good))["ship"] == ("COMPLETED", 5)
        await run.advance(timedelta(hours=2))
        assert (await ended(run, late))["ship"][0] == "UPSTREAM_FAILED"


async def test_what_a_worker_or_a_schedule_gives_is_not_missing(app: Gnomon) -> None:
    @app.job()
    def attempt(a: int, context: Context, **more: int) -> int:
        return context.attempt + a + more["b"]

    @app.job(cron="0 0 1 1 *")
    def daily(day: date) -> str:
        return str(day)

    @app.dag(cron="0 2 * * *")
    def both() -> None:
        attempt(1, b=2)  # type: ignore[call-arg]
        daily()  # type: ignore[call-arg]

    async with inline(app, clock=ManualClock(NOON)) as run:
        await run.advance(timedelta(days=1))
        dag = await run.client.dags.named("both")
        [asked] = (await run.client.runs.list(dag.job.id)).items
        assert await ended(run, asked) == {
            "attempt": ("COMPLETED", 4),
            "daily": ("COMPLETED", "2026-01-02"),
        }


# What is refused ---------------------------------------------------------------------------------------


def uses(use: Callable[[Any], object]) -> Callable[[Gnomon], object]:
    """Declare a workflow that does this with a promise."""

    def declare(app: Gnomon) -> object:
        @app.job()
        def extract(rows: Any) -> Any:
            return rows

        @app.dag
        def etl() -> None:
            use(extract(1))

        return etl

    return declare


@pytest.mark.parametrize(
    ("use", "advice"),
    [
        (lambda raw: f"x {raw}", "make the text there"),
        (str, "make the text there"),
        ("x {}".format, "make the text there"),
        (bool, r"job\.task\(when=promise == value\)"),
        (lambda raw: 1 if raw else 2, r"job\.task\(when=promise == value\)"),
        (lambda raw: 1 if raw > 5 else 2, r"job\.task\(when=…\)"),
        (lambda raw: 1 if raw == 5 else 2, r"job\.task\(when=…\)"),
        (lambda raw: 0 < raw < 5, r"job\.task\(when=…\)"),
        (lambda raw: raw in [1, 2], r"job\.task\(when=…\)"),
        (lambda raw: sorted([raw, raw]), "let a job compare"),
        (lambda raw: raw == raw["x"], "let a job compare"),
        (list, r"job\.map\(promise\)"),
        (lambda raw: 1 in raw, r"job\.map\(promise\)"),
        (len, "Let a job count"),
        (lambda raw: raw[-1], "counted from the beginning"),
        (lambda raw: raw[1:], "counted from the beginning"),
        (lambda raw: raw[True], "counted from the beginning"),
    ],
)
def test_what_nobody_can_know_yet_is_refused(app: Gnomon, use: Callable[[Any], object], advice: str) -> None:
    with pytest.raises(InvalidInput, match=advice) as refused:
        uses(use)(app)
    assert refused.value.field.startswith("${tasks.extract.result")
    assert "workflow 'etl'" in refused.value.__notes__[0]
    assert app.dags == {}


@pytest.mark.parametrize("use", [hash, lambda raw: {raw: 1}, lambda raw: raw + 1, int, operator.neg])
def test_what_python_refuses_by_itself(app: Gnomon, use: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError):
        uses(use)(app)


def test_a_promise_can_be_looked_at(app: Gnomon) -> None:
    shown: list[str] = []
    uses(lambda raw: shown.append(repr(raw["a b"][0])))(app)
    assert shown == ['<promise of ${tasks.extract.result["a b"][0]}>']
    assert parse('tasks.extract.result["a b"][0]', field="").path == ("a b", 0)


def test_arguments_that_do_not_fit_are_refused_when_declared(app: Gnomon) -> None:
    @app.job()
    def add(a: int, b: int, context: Context) -> int:
        return a + b

    def refusal(*args: Any, **kwargs: Any) -> str:
        with pytest.raises(InvalidInput) as refused:

            @app.dag
            def sums() -> None:
                add(add(1, 2), 3)  # type: ignore[call-arg]
                add(*args, **kwargs)

        return str(refused.value)

    assert refusal(1) == "arguments.b: is missing; 'add' needs it."
    assert refusal(1, 2, c=3) == "arguments: 'add' got an unexpected keyword argument 'c'."
    assert refusal(1, 2, a=3) == "arguments: 'add' multiple values for argument 'a'."
    assert refusal(1, "x") == "arguments.b: Expected `int`, got `str` - at `$.b`."
    assert refusal(1, add) == "arguments.b: cannot be written as JSON: a JobFunction is not JSON."
    assert refusal(1, 2, context=3) == "arguments.context: is given by the worker, not by the workflow."
    assert app.dags == {}


def test_a_name_is_taken_once(app: Gnomon) -> None:
    @app.job()
    def work() -> None: ...

    @app.dag
    def etl() -> None:
        work()

    before = etl.document
    with pytest.raises(InvalidInput, match="a workflow named 'etl' is declared already"):
        app.dag(name="etl")(lambda: work())
    with pytest.raises(InvalidInput, match="a job is named 'work'"):
        app.dag(name="work")(lambda: work())
    with pytest.raises(InvalidInput, match="a workflow is named 'etl'"):
        app.job(name="etl")(lambda: None)
    assert (app.dags["etl"], app.dags["etl"].document, list(app.jobs)) == (etl, before, ["work"])


def test_functions_whose_body_would_not_run_are_refused(app: Gnomon) -> None:
    @app.job()
    def work() -> None: ...

    with pytest.raises(InvalidInput, match="function: is `async`"):

        @app.dag()
        async def etl() -> None:
            work()

    with pytest.raises(InvalidInput, match="function: has a `yield`"):

        @app.dag()
        def other() -> Any:
            yield work()

    with pytest.raises(InvalidInput, match="function: the parameter 'more' is not one key"):

        @app.dag()
        def third(**more: int) -> None:
            work()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"failure_strategy": "x"}, "failure_strategy: 'x' is not one of FAIL_FAST, FAIL_DOWNSTREAM,"),
        ({"cron": "x"}, "cron: "),
        ({"cron": "0 2 * * *", "every": 5}, "every: cron is given too"),
        ({"misfire": "x"}, "misfire: 'X' is not one of"),
        ({"config": {"a": {1}}}, "dag.config.a: a set is not JSON"),
        ({"config": {"given": 1}}, "config.given: is the default of a parameter, too"),
        ({"tags": [7]}, "tags"),
        ({"name": " "}, "name: must not be empty"),
    ],
)
def test_errors_name_the_workflow_when_it_is_declared(
    app: Gnomon, options: dict[str, Any], words: str
) -> None:
    @app.job()
    def work(given: int) -> None: ...

    with pytest.raises(GnomonError) as refused:

        @app.dag(**options)
        def etl(given: int = 1) -> None:
            work(given)

    assert str(refused.value).startswith(words)
    name = options.get("name", "etl")
    assert refused.value.__notes__ == [f"That is about the workflow {name!r} in {__name__!r}."]


def test_graphs_are_checked_when_declared(app: Gnomon) -> None:
    @app.job()
    def work(a: Any = 1) -> Any: ...

    def refusal(draw: Callable[[], object], **options: Any) -> str:
        with pytest.raises(InvalidInput) as refused:
            app.dag(name="etl", **options)(draw)
        return str(refused.value)

    def circle() -> None:
        one = work()
        two = work(one)
        one.after(two)

    def twice() -> None:
        work.task(name="a")()
        work.task(name="a")()

    leaked: list[Any] = []
    app.dag(name="leaky")(lambda: leaked.append(work()))

    with pytest.raises(InvalidDag, match="work -> work_2 -> work"):
        app.dag(name="etl")(circle)
    with pytest.raises(InvalidDag):
        app.dag(name="etl")(lambda: None)
    assert "a task 'a' already" in refusal(twice)
    assert "of another workflow" in refusal(lambda: work(leaked[0]))
    assert "of another workflow" in refusal(lambda: work.task(after=leaked)())
    assert "of another workflow" in refusal(lambda: leaked[0].after(work()))
    assert "is not one of all_success" in refusal(lambda: work.task(trigger_rule="x")())
    assert "over: 'abc' is not a list" in refusal(lambda: work.map("abc"))
    assert "promise of the whole list" in refusal(lambda: work.map([work()]))
    assert "rename the task" in refusal(lambda: work.map([1]), config={"work": 1})
    assert "over: no argument is the item" in refusal(lambda: work.task(over=[1])(5))
    assert "limit: is how many items" in refusal(lambda: work.task(limit=5)())
    assert "when: what shall it be?" in refusal(lambda: work.task(when=work())())
    assert "when: True is not a comparison" in refusal(lambda: work.task(when=[True])())
    assert "after: 'work' is not what a job" in refusal(lambda: work.task(after=["work"])())
    assert "depend on it" in refusal(lambda: (work(), work("${tasks.work.result}")))
    assert "config.a: nobody gives it to a run of a schedule" in refusal(
        lambda a: work(a),  # type: ignore[arg-type, misc]
        cron="0 2 * * *",
    )
    assert list(app.dags) == ["leaky"]


def test_tasks_belong_into_the_function_of_a_workflow(app: Gnomon) -> None:
    @app.job()
    def work(a: int = 1) -> None: ...

    calls: tuple[Callable[[], object], ...] = (
        work.task(name="a"),
        lambda: work.map([1]),
        lambda: app.approval("a"),
        lambda: app.event("a"),
        lambda: app.sub_dag("a"),
    )
    for call in calls:
        with pytest.raises(InvalidInput, match=r"belongs into a function with @app\.dag"):
            call()


async def test_a_workflow_that_the_store_refuses_is_named(app: Gnomon) -> None:
    @app.job()
    def work() -> None: ...

    @app.dag(schedule=Schedule(calendar="nowhere"))
    def etl() -> None:
        work()

    with pytest.raises(GnomonError) as refused:
        async with inline(app, clock=ManualClock(NOON)):
            pass
    assert refused.value.__notes__ == ["That is about the workflow 'etl'."]
