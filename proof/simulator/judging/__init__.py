"""From worlds to judgements: one world, many on all cores, and a failing one made small.

In: scenarios or seeds.
Out: a `Judgement` of each. The rules are those of `proof.checker`, and basics that compare history and
store.
Kept inside: `basics`.
"""
