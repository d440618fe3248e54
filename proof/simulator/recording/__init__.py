"""Writes the history of a world: every verb that the store has done, and what processes say.

In: calls with their answers, from the network; notes of transactions, from the database.
Out: events, in order, and their hash. They tell what the store answered, not what it should have.
Kept inside: `flow_recorder`, `seen`.
"""
