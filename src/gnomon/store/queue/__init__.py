"""Waiting work: enqueue, lanes, gates, suspects, and the claim.

In: requests for runs and requests of workers.
Out: executions in the hands of a worker, each with a new claim number. The order of locks is in ADR 0012:
tenant, jobs, gates, queue.
"""
