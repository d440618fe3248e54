"""What breaks things: the nemesis, which carries out the plan, with its wire and its disk.

What enters: the plan. What leaves: begin and end of each fault, in the history.
Private: the wire's reading of the PostgreSQL protocol. Which faults there are is in
`proof/campaign/plan.py`.
"""
