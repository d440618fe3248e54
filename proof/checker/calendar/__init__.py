"""A second reading of schedules: which due times follow from what a history says of a job.

In: `SchedSet` events.
Out: targets, and a ledger of what became of each and what should have.
Kept inside: `civil`.

It is slow and plain, and shares no code with `gnomon.core.time`.
"""
