"""A world: nodes with faults, clients that ask, handlers that pretend to work, and the nemesis.

What enters: a scenario. What leaves: a `Story`. A world lives once.
Private: everything but `World`. The recorder hears of calls, and changes nothing.
"""
