"""Workflows in Python: a function that is called once and writes a definition down.

In: calls of jobs inside a function with `@app.dag`.
Out: the document of a workflow.
Kept inside: `dag_function`, `promises`.
"""
