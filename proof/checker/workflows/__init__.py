"""Runs of workflows, told again from their definitions and the ends of their executions.

What enters: the events of one run, in the order of the store. What leaves: each place where a transaction
did not leave the run as the rules of its workflow say.
Private: the state of a run while it is told. The invariants G1 to G8 ask `replay` for what was wrong.
"""
