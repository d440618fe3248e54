"""The proof: what a campaign writes down, and who judges it.

It looks at nothing but the history. It imports none of the code it judges, not even the data types: a mistake
that both shared would go unseen. `docs/reference/proof.md` lists the events and what must hold.
"""
