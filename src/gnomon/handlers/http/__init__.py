"""The kind `http`: one guarded, limited request.

In: a payload.
Out: status, some headers and the body of the answer. Every connection goes through `guard`, which checks
the address that is connected to.
Kept inside: `addresses`, `answer`.
"""
