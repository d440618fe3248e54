"""Runs of workflows: locked, loaded, decided by `gnomon.core.runs`, and written.

In: ends of tasks, acts of a person, runs whose turn has come.
Out: rows of runs and tasks, and the executions that they release, in one transaction. The row of a run is
the lock of all that happens to it.
"""
