"""A server that is spoken to over HTTP: what a person's commands and a worker without a store use.

In: an address and a key.
Out: answers as plain values; for a worker, what `gnomon.engine.workers.needs` asks of a store.
Shared with the API: `worker_protocol`, the structs of what a worker sends and a server answers.
Kept inside: `line`, `work_forms`.
"""
