"""From a seed to a scenario: which nodes and jobs there are, what is asked for, what goes wrong.

What enters: a seed, a profile and a length. What leaves: a `Scenario`.
Private: the streams of chance. Each part has one of its own, so a new draw leaves the worlds of old seeds
as they were.
"""
