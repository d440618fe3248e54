"""What must hold of every history: a file for each family, a small function for each invariant.

What enters: an indexed history. What leaves: findings, with the number of cases.
Private: everything but the functions that `judge` lists. The docstring of a function is the invariant.
"""
