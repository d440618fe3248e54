"""Jobs, their revisions, schedules, the ledger of occurrences, calendars, tags and dependencies.

In: changes and firings that the core decided.
Out: jobs, due times, ledger rows. Every change looks at the version that it was decided on.
Kept inside: `links`.
"""
