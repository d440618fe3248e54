"""Who owns things and who may call: tenants, API keys and their scopes.

In: the text of a key, or the facts about it.
Out: what the key allows, or that it opens nothing. The text of a key is never kept, only its hash.
"""
