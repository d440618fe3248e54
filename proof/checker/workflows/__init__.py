"""Runs of workflows, told again from their definitions and the ends of their executions.

In: the events of one run, in the order of the store.
Out: each place where a transaction did not leave the run as the rules of its workflow say, for G1 to G8.
"""
