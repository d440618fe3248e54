"""A world: nodes with faults, clients that ask, handlers that pretend to work, and the nemesis.

In: a scenario.
Out: a `Story`. A world lives once. The recorder hears of calls, and changes nothing.
Kept inside: `clients`, `flow_clients`, `handler`, `nemesis`.
"""
