"""Executions after the claim: renew, apply, expire, cancel, read; what is kept about each.

In: decisions of the core, with the claim that entitles to them.
Out: whether each was written. Nothing here chooses between outcomes.
"""
