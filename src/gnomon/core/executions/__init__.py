"""The life of an execution: ask, wait, claim, run, end, retry, dead letter, retention.

In: an execution in the hands of a worker, an outcome, a time.
Out: a `Change` that says what to write. The tables of transitions in `lifecycle` are the only ones; API,
dashboard and documents are printed from them.
"""
