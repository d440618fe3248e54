"""What must hold of every history: a file for each family, a small function for each invariant.

In: an indexed history.
Out: findings, with the number of cases. The docstring of a function is the invariant; `judge` has the list.
"""
