"""The services of a worker process: claim, run, write down, hold on.

In: protocols of the store, a clock, handlers.
Out: steps. `needs` says what a worker asks of a store, so that a server over HTTP can stand for it.
Kept inside: `quarantine`.
"""
