"""The checker: reads what a campaign or a simulated world wrote down, and judges it.

What lives here: the events of a history (`history`), due times worked out a second time (`calendar`), runs
of workflows told again (`workflows`), what must hold (`invariants`), and the verdict (`judge`).
What enters: events, from files or from a list. What leaves: a `Verdict`, as a value, a text, JSON or
pictures.
Private: the index. An invariant gets it from `judge`; nothing outside builds one but to draw pictures or
figures.

It looks at nothing but the history. It imports none of the code it judges, not even the data types: a
mistake that both shared would go unseen. `docs/reference/proof.md` lists the events and what must hold.
"""
