"""When a schedule names a time: cron, intervals, zones, daylight saving, calendars.

In: a schedule and an instant, passed as arguments.
Out: nominal times, and the document of a schedule. What becomes of a nominal time is decided in
`gnomon.core.schedules`.
Kept inside: `cron_fields`.
"""
