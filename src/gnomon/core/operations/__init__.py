"""What keeps an installation running: workers, and the shards of the schedulers.

In: what is registered and who was seen when.
Out: the status of a worker, and which shards a scheduler gives back or takes. Nothing here is needed for
safety: it divides work.
"""
