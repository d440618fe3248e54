"""Writes the history of a world: every verb that the store has done, and what processes say.

What enters: calls with their answers, from the network; notes of transactions, from the database. What
leaves: events, in order, and their hash.
Private: what the recorder remembers of jobs and runs. It tells what the store answered, not what it should
have.
"""
