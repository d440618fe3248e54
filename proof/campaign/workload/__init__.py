"""What a campaign asks for: jobs of every kind, workflows from the seed, clients over HTTP.

What enters: the seed and the lease. What leaves: drafts and documents, and what clients were told.
Private: how a client asks again until it knows.
"""
