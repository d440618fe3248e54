"""What happens in a world, as a value: nodes, jobs, workflows, acts of clients, faults.

What enters: a file, or what `seeds` has drawn. What leaves: a `Scenario`; its jobs as drafts, its workflows
as documents.
Private: nothing. But the names of the fields stand in files that are kept, so they do not change.
"""
