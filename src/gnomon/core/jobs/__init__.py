"""What a job is: its definition in immutable revisions, its kind, its retry policy.

In: what a caller wants to run.
Out: a checked `Definition`, and the wait before a retry. How a job or an execution changes its status is
decided in `gnomon.core.executions.lifecycle`.
"""
