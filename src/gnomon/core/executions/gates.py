"""What an execution waits for besides its time and a worker: a slot of its job, and other jobs."""

from __future__ import annotations

from gnomon.core.executions.execution import WaitsFor
from gnomon.core.jobs.job import Definition, Job
from gnomon.core.time.schedule import Overlap


def slots(definition: Definition) -> int | None:
    """How many runs of the job may be with workers, or on their way to one, at once. None: any number."""
    return 1 if definition.schedule.overlap is Overlap.QUEUE else definition.max_concurrent


def is_counted(definition: Definition) -> bool:
    """Whether somebody wants to know how many runs of the job are live."""
    return slots(definition) is not None or definition.schedule.overlap is not Overlap.ALLOW


def gate(free_for: int | None) -> WaitsFor | None:
    """Where a run that somebody asks for begins to wait, if its job has so many slots."""
    return None if free_for is None else WaitsFor.SLOT


def gate_of_fire(job: Job) -> WaitsFor | None:
    """Where a fire of the schedule begins to wait. What a person asks for does not wait for other jobs."""
    return WaitsFor.JOBS if job.dependencies else gate(slots(job.definition))


def gate_of_retry(definition: Definition, *, crashes: int = 0) -> WaitsFor | None:
    """Where a run waits that goes back to the queue. After a slot, a suspect waits for an empty worker.

    One of `max_concurrent` gives its slot away while it waits. Under the overlap policy `queue` it keeps it:
    the next fire waits for its end, and a retry is no end.
    """
    first = None if definition.schedule.overlap is Overlap.QUEUE else gate(slots(definition))
    return first or last_gate(crashes)


def last_gate(crashes: int) -> WaitsFor | None:
    """Where a run waits that no slot and no other job holds any more."""
    return WaitsFor.EMPTY_WORKER if crashes else None
