"""What is left of an SQLite file when the power goes: all that was synced, any part of what was not.

What enters: a trace of the writes and syncs of one process. What leaves: for each cut, what was lost of
what was acknowledged.
Private: the trace, and the library that writes it.
"""
