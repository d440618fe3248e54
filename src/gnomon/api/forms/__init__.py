"""What callers write and get: strict forms, answers, ids, cursors, and refusals in the caller's words.

In: the bytes of a body.
Out: values of the core, and back. Unknown fields are errors that name them.
"""
