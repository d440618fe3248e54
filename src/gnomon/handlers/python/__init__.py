"""The kind `python`: a registered function, in the loop, in a thread or in a child process.

In: the name of a function and arguments as JSON.
Out: its result as JSON. A payload never names code to import.
Kept inside: `child`, `process`, `threads`, `wire`.
"""
