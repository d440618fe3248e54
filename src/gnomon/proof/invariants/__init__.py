"""What must hold of every history: a file for each family, a small function for each invariant.

A function gets an indexed history and returns its findings. Its docstring is the invariant.
"""
