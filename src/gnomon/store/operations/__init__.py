"""What keeps an installation running: workers, shards, upkeep, the log of events, counts.

In: beats, limits, positions.
Out: counts, events in the order of their commits, what was forgotten. Apart from heartbeats, nothing here
is in the way of a claim.
"""
