"""Jobs in Python: what a decorator says, and the verbs of what it makes.

In: a function, or an HTTP call, or a script, with options.
Out: a draft of a job, and runs of it.
Kept inside: `job_call`, `nominal_arguments`.
"""
