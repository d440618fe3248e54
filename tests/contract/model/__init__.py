"""The store as dictionaries: slow, obvious, and the judge of both real stores.

It decides nothing and hides nothing: each verb is the docstring of its protocol, written as a loop.
There is no await inside a verb, so every verb is atomic; a verb that may refuse looks first and writes after.
"""

from __future__ import annotations

from datetime import UTC, datetime

from tests.contract.model.calendars import ModelCalendars
from tests.contract.model.executions import ModelExecutions
from tests.contract.model.jobs import ModelJobs
from tests.contract.model.keys import ModelKeys
from tests.contract.model.records import ModelCheckpoints, ModelDeadLetters, ModelLogs
from tests.contract.model.schedules import ModelSchedules
from tests.contract.model.shards import ModelShards
from tests.contract.model.state import State
from tests.contract.model.upkeep import ModelUpkeep
from tests.contract.model.workers import ModelTenants, ModelWorkers


class ModelStore:
    """All nouns over one state. A new one is empty but for the default tenant."""

    def __init__(self) -> None:
        self.state = State()
        self.tenants = ModelTenants(self.state)
        self.jobs = ModelJobs(self.state)
        self.schedules = ModelSchedules(self.state)
        self.calendars = ModelCalendars(self.state)
        self.executions = ModelExecutions(self.state)
        self.checkpoints = ModelCheckpoints(self.state)
        self.logs = ModelLogs(self.state)
        self.dead_letters = ModelDeadLetters(self.state)
        self.workers = ModelWorkers(self.state)
        self.keys = ModelKeys(self.state)
        self.shards = ModelShards(self.state)
        self.upkeep = ModelUpkeep(self.state)

    async def clock(self) -> datetime:
        return datetime.now(UTC)

    async def close(self) -> None:
        """Nothing to let go."""
