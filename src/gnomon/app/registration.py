"""Jobs that code declares, kept in the store: made if missing, changed if different, else left alone.

Many processes of one release may start at once. One makes a job, the others find it as they want it.
"""

from __future__ import annotations

import logging

from gnomon.client import Client, Draft
from gnomon.core.jobs.job import Job, JobStatus
from gnomon.errors import Conflict, IllegalTransition, JobAlreadyExists, JobNotFound

logger = logging.getLogger(__name__)

TRIES_MAX = 10


async def registered(client: Client, draft: Draft) -> Job:
    """The job as the draft says. One that a person has cancelled stays as it is: code does not overrule."""
    trouble: Exception | None = None
    for _ in range(TRIES_MAX):
        try:
            found = await client.jobs.named(draft.name)
        except JobNotFound:
            try:
                return await client.jobs.create(draft)
            except JobAlreadyExists as error:
                trouble = error  # Somebody else was faster.
                continue
        if found.status is JobStatus.CANCELLED:
            logger.warning("job %s was cancelled, so it stays as it is", draft.name)
            return found
        try:
            return await client.jobs.update(found.id, definition=draft.definition, tags=draft.tags)
        except (IllegalTransition, JobNotFound) as error:
            trouble = error  # Cancelled or deleted between the two looks.
    assert trouble is not None
    raise trouble if isinstance(trouble, Conflict) else JobNotFound(draft.name)
