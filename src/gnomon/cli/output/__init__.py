"""What a terminal shows: tables, trees, pictures, the live view, lines of log, exit codes.

In: answers of a server, or what an engine tells.
Out: text through the one door, `terminal`, which makes control characters visible.
"""
