"""What the store wrote down about itself, by triggers of the campaign, and what it holds at the end.

In: the address of the database.
Out: the store's events. Before that, `replay` sends every attempt again; all must be refused.
Kept inside: `flow_harvest`.
"""
