"""The sales of all shops, added up: a workflow that runs a task for each item of a list.

Start Gnomon with this app, in this folder:

    gnomon up --app fan_out:app

In another terminal, look at the workflow, and run it for a day. The first terminal shows the total:

    gnomon dag graph sales_of_a_day
    gnomon dag trigger sales_of_a_day --config '{"day": "2026-03-01"}' --wait
"""

from __future__ import annotations

import logging

from gnomon import Gnomon

app = Gnomon()
logger = logging.getLogger(__name__)


@app.job()
def open_shops(day: str) -> list[str]:
    return ["Lisbon", "Nairobi", "Osaka"]


@app.job(retries=3)
def sales(shop: str, day: str) -> int:
    return 100 * len(shop)


@app.job()
def add_up(amounts: list[int], day: str) -> int:
    logger.info("sales of %s: %d", day, sum(amounts))
    return sum(amounts)


@app.dag
def sales_of_a_day(day: str = "2026-01-01") -> None:
    shops = open_shops(day)
    amounts = sales.map(shops, day=day)  # One execution for each shop, in parallel.
    add_up(amounts, day)  # After all of them, with their results in the order of the shops.
