"""What stands around the routes: limits, keys, rates, streams, errors, compression.

In: an ASGI request.
Out: a `Call` that is allowed, or a refusal in the one envelope. Knows no job.
"""
