"""What a run of a workflow does: it begins, releases tasks, ends, is repaired; and backfills.

In: the rows of the run and the events that happened to it.
Out: `Changes`, or `Needs` when rows are missing. The store locks the run before it asks.
Kept inside: `releases`, `repairs`, `rows`.
"""
