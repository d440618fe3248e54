"""Why something does not run now, in words and numbers.

In: facts about an execution, a run, a job and the live workers.
Out: reasons with the code of an `Obstacle`. The predicates are those by which work is claimed, so an empty
answer means that a worker would get it.
"""
