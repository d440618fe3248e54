"""What a workflow is: tasks, edges, conditions, references, and the plan made of them.

In: a definition as JSON or YAML.
Out: a checked, numbered and immutable `Plan`, or InvalidDag with the task and the reason. What a run of it
does is decided in `gnomon.core.runs`.
Kept inside: `sense`.
"""
