"""What can be written down, and how: the vocabulary of events, and files of them.

What enters: events, made by the process that saw them. What leaves: the same events, read back.
Private: how an event becomes a line. Every recorder writes with these classes.
"""
