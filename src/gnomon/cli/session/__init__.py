"""How a command gets its settings, its server and its key.

In: options, environment, the profile file.
Out: a session with a server, or the settings of a process. Secrets among the arguments are overwritten
here.
"""
