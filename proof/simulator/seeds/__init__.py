"""From a seed to a scenario: which nodes and jobs there are, what is asked for, what goes wrong.

In: a seed, a profile and a length.
Out: a `Scenario`. Each part has a stream of chance of its own, so a new draw leaves the worlds of old seeds
as they were.
Kept inside: `outages`, `workload`.
"""
