"""The processes under test, each boot with a log and a history of its own, and the sink.

What enters: the address of a wire to the database. What leaves: files of events.
Private: the processes. The nemesis alone starts, kills and holds them.
"""
