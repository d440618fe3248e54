"""What happens in a world, as a value: nodes, jobs, workflows, acts of clients, faults.

In: a file, or what `seeds` has drawn.
Out: a `Scenario`; its jobs as drafts, its workflows as documents. The names of its fields stand in files
that are kept, so they do not change.
"""
