"""What a campaign asks for: jobs of every kind, workflows from the seed, clients over HTTP.

In: the seed and the lease.
Out: drafts and documents, and what clients were told.
"""
