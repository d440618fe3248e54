"""From worlds to judgements: one world, many on all cores, and a failing one made small.

What enters: scenarios or seeds. What leaves: a `Judgement` of each.
Private: the basics, which compare history and store. All other rules are those of `proof.checker`.
"""
