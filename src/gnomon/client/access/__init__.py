"""What an administrator does with keys and the tenant, and which kinds may be saved.

In: a name, scopes, a limit.
Out: a key with its text, once; or what is kept about it.
"""
