"""API keys, and the idempotency keys of calls.

In: a proven key or the fingerprint of a call.
Out: rows about it. The secret of a key is not here: only its hash is kept.
"""
