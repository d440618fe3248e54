"""What a user does with executions: ask, wait, cancel, retry, redrive, explain; and remote leases.

In: plain values.
Out: executions. `leases` decides the outcomes of workers that have no store, by the same core function as a
worker that has one.
"""
