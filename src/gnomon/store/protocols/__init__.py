"""What the rest of Gnomon needs from durable state. Verbs by noun, never tables.

Rules that hold for every verb:
- Time, ids and chance come in as values. `Store.clock` is the one verb that reads a clock, and does no more.
- Verbs that change something are atomic and durable when they return; hot ones take batches.
- Everything is scoped by tenant, except what workers and schedulers do for all of them.
- A verb that raised StoreUnavailable may or may not have happened; asking again is safe."""
