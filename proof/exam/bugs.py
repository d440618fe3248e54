"""All bugs that are planted."""

from __future__ import annotations

from proof.exam import (
    bugs_of_postgres,
    bugs_of_the_engine,
    bugs_of_the_rules,
    bugs_of_the_store,
    bugs_of_workflows,
)

BUGS = (
    *bugs_of_the_store.BUGS,
    *bugs_of_postgres.BUGS,
    *bugs_of_the_engine.BUGS,
    *bugs_of_the_rules.BUGS,
    *bugs_of_workflows.BUGS,
)
