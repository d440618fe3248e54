"""A second reading of schedules: which due times follow from what a history says of a job.

What enters: `SchedSet` events. What leaves: targets, and a ledger of what became of each and what should
have.
Private: the patterns of civil times. They are slow, plain, and share no code with `gnomon.core.time`.
"""
