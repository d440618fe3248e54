"""The routes, one file a resource: parse, call the client, present.

In: a `Call` with its caller.
Out: an answer struct. A route without a policy does not mount. Whatever several resources read or answer is
in `gnomon.api.forms`.
"""
