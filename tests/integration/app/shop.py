"""An app such as a user writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from gnomon import Context, Gnomon, JobFailed, RetryPolicy, Snooze


@dataclass
class Order:
    number: int
    day: date


@dataclass
class Receipt:
    order: Order
    paid: bool


def make_app(database: str | None = None) -> Gnomon:
    """The same app again and again: each test has its own, as each process of a user has."""
    app = Gnomon(database)

    @app.job(retry=RetryPolicy(max_attempts=2, jitter=0), tags=["shop"])
    async def charge(order: Order, context: Context) -> Receipt:
        context.log.info("charging %s", order.number)
        if order.number < 0:
            raise JobFailed("no such order", kind="unknown_order")
        return Receipt(order, paid=True)

    @app.job()
    def add(a: int, b: int = 2) -> int:
        return a + b

    @app.job(cron="0 9 * * *", timezone="America/New_York", retries=3)
    async def daily_report(day: date, context: Context) -> dict[str, str]:
        return {"day": day.isoformat(), "for": str(context.nominal_time)}

    @app.job(every=timedelta(minutes=10))
    def tidy() -> None: ...

    @app.job()
    async def patient(context: Context) -> int:
        if context.claim < 3:
            raise Snooze(timedelta(minutes=1))
        return context.claim

    @app.job()
    async def fan_out(numbers: list[int]) -> int:
        runs = await add.enqueue_many([{"a": number} for number in numbers])
        return sum([await run.result(timeout=10) for run in runs])

    @app.job()
    def from_a_thread(number: int) -> int:
        return app.sync(app.sync(add.enqueue(a=number)).result(timeout=10))

    return app
