"""What the store wrote down about itself, by triggers of the campaign, and what it holds at the end.

What enters: the address of the database. What leaves: the store's events.
Private: the table of the triggers. Before the final read, `replay` sends every attempt again; all must be
refused.
"""
