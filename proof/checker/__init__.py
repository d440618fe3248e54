"""The checker: reads what a campaign or a simulated world wrote down, and judges it.

The events of a history are in `history`, due times worked out a second time in `calendar`, runs of
workflows told again in `workflows`, what must hold in `invariants`; `judge` puts them together.

In: events, from files or from a list.
Out: a `Verdict`, as a value, a text, JSON or pictures.

It looks at nothing but the history. It imports none of the code it judges, not even the data types: a
mistake that both shared would go unseen. `docs/reference/proof.md` lists the events and what must hold.
"""
