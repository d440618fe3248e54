"""What is left of an SQLite file when the power goes: all that was synced, any part of what was not.

In: a trace of the writes and syncs of one process.
Out: for each cut, what was lost of what was acknowledged.
Kept inside: `load`.
"""
