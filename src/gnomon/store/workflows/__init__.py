"""Workflows as they are kept: definitions in revisions, plans, backfills.

In: a checked definition.
Out: its revision, and the plan that a run is pinned to. Runs are in `gnomon.store.runs`.
"""
