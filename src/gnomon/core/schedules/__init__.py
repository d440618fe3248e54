"""What becomes of each nominal time: fired, or skipped and why.

In: a job, its due times, its calendar, the number of its live executions, a time.
Out: a `Firing`, to be written whole or not at all, or a `Course` after a change of the schedule.
Kept inside: `overlap`.
"""
