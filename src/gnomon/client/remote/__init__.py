"""A server that is spoken to over HTTP: what a person's commands and a worker without a store use.

In: an address and a key.
Out: answers as plain values; for a worker, what `gnomon.engine.workers.needs` asks of a store.
Kept inside: `line`, `work_forms`.
"""
