"""The exam of the simulator: bugs are planted into copies of the product, and each must be caught.

In: bugs as data, by part of the product (`bugs_of_…`).
Out: what caught each, after how many worlds. A candidate is a process of its own: the product with the bug,
and the proof of this checkout.
"""
