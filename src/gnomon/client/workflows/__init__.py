"""What a user does with workflows, their runs and backfills.

In: definitions as they were written, acts on runs and tasks.
Out: revisions, runs, tasks. All that an act does is decided in `gnomon.core.runs`.
"""
