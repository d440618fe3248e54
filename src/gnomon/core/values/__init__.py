"""Values that every other room uses: documents, ids, instants, limits, choices, events.

In: text, JSON, numbers and bytes as they arrive.
Out: a value that is checked once and can be kept by every store, or InvalidInput with the path of the
field. Knows no job, no store and no request.
"""
