"""A report every morning, tried again when it fails: a cron job in Python.

Start Gnomon with this app, in this folder:

    gnomon up --app cron_report:app

In another terminal, see what is planned, and run it for a day of your choice:

    gnomon job show daily_report
    gnomon job trigger daily_report --input '{"day": "2026-03-01"}' --wait
"""

from __future__ import annotations

from datetime import date, timedelta

from gnomon import Context, Gnomon

app = Gnomon()


@app.job(cron="0 9 * * *", timezone="America/New_York", retries=3, timeout=timedelta(minutes=10))
async def daily_report(day: date, context: Context) -> dict[str, str | int]:
    """A run of the schedule is given the day that it is for, also when it runs late."""
    context.log.info("report for %s, attempt %d", day, context.attempt)
    return {"day": day.isoformat(), "pages": day.day}
