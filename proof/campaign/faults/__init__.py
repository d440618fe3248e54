"""What breaks things: the nemesis, which carries out the plan, with its wire and its disk.

In: the plan; which faults there are is in `proof/campaign/plan.py`.
Out: begin and end of each fault, in the history.
"""
