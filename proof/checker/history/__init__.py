"""What can be written down, and how: the vocabulary of events, and files of them.

In: events, made by the process that saw them.
Out: the same events, read back. How an event becomes a line is known here alone.
"""
