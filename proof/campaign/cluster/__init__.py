"""The processes under test, each boot with a log and a history of its own, and the sink.

In: the address of a wire to the database.
Out: files of events. The nemesis alone kills and holds the processes.
"""
