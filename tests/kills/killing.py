"""POSTs to two API nodes of which one is killed, or both, or their database, again and again.

What was acknowledged is there afterwards, under the id that was told. What got no answer is asked again
with its key, and ends as one job. A round is one kill with POSTs in flight.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from urllib.parse import urlencode

from gnomon.app import open_database
from gnomon.app.connection import open_connection
from gnomon.core.values.limits import PAGE_LIMIT_MAX
from gnomon.store.schema.migrations import migrate
from tests.checks import add_checks
from tests.kills.line import Line
from tests.kills.nodes import NODES, Nodes
from tests.kills.nursery import Nursery
from tests.kills.posting import Caller, Post, Stage, Told
from tests.kills.tally import Tally, Victim
from tests.postgres import PostgresServer

CALLERS = 16
# How many POSTs are acknowledged before the kill, and how long it comes after the last of them.
ACKNOWLEDGED = (1, 24)
CALM_SECONDS = (0.0, 0.01)
# Both nodes cost two starts, and the others find what they find.
WEIGHTS = {Victim.NODE: 4, Victim.NODES: 1, Victim.DATABASE: 3}
WHOLE_EVERY = 100  # So many rounds from one look at all jobs to the next.
# The newest jobs come first. Clocks of nodes differ by milliseconds, so that a few of the round before may
# stand among those of this one.
SLACK = 64


def drawn(seed: int, *, rounds: int, with_server: bool) -> Sequence[Victim]:
    """Whom to kill."""
    weights = {victim: WEIGHTS[victim] for victim in Victim if with_server or victim != Victim.DATABASE}
    return Random(seed).choices(list(weights), list(weights.values()), k=rounds)


@dataclass
class Kills:
    """`database` is where jobs are kept; `server` is its PostgreSQL, if that may be killed, too."""

    folder: Path
    database: str
    seed: int
    nursery: Nursery
    server: PostgresServer | None = None
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        self._nodes = Nodes(self.nursery, self.folder, self.database)
        self._told: set[Told] = set()
        self._lines: list[list[Line]] = []

    async def run(self, victims: Iterable[Victim], done: Callable[[], None] = lambda: None) -> None:
        """A round for each of them. `done` is called after each."""
        async with self._calling(CALLERS):
            for victim in victims:
                while not await self._round(victim):
                    pass  # Nothing was in flight, so it showed nothing and does not count.
                if self.tally.rounds % WHOLE_EVERY == 0:
                    await self._check_all()
                done()
            await self._check_all()

    async def all_at_once(self, *, callers: int, after_the_first: bool) -> None:
        """Many callers, one key and one kill: before anybody has an answer, or after the first one has."""
        async with self._calling(callers):
            random, stage = Random(self.seed), Stage()
            posts = [Post("once") for _ in range(callers)]
            async with asyncio.TaskGroup() as asking:
                for caller, post in zip(self._callers(stage, random), posts, strict=True):
                    asking.create_task(caller.insist(post))
                if after_the_first:
                    await stage.is_warm.wait()
                else:
                    await asyncio.sleep(random.uniform(0.0, 0.05))
                await self._strike(stage, Victim.NODES, random)
            self._count(Victim.NODES, posts)
            await self._check_all()

    @asynccontextmanager
    async def _calling(self, callers: int) -> AsyncIterator[None]:
        key = await self._prepared()
        self._lines = [[Line(port, key) for port in self._nodes.ports] for _ in range(callers)]
        await self._nodes.start(NODES)
        try:
            yield
        finally:
            for line in (line for lines in self._lines for line in lines):
                line.close()
            await self._nodes.kill(NODES)

    async def _prepared(self) -> str:
        """The text of a key, on a database that is ready."""
        database = await open_database(self.database)
        await migrate(database, now=datetime.now(UTC))
        await database.close()
        if database.dialect == "postgres":
            await add_checks(self.database)
        connection = await open_connection(self.database, lambda _: None)
        key = await connection.client.keys.create("kills", ["admin"])
        await connection.close()
        return key.text

    async def _round(self, victim: Victim) -> bool:
        """Post, strike, ask again until all is answered, and look. Returns whether anything was in flight."""
        random = Random(f"{self.seed} {self.tally.kills.total()}")
        stage = Stage(acknowledged_wanted=random.randint(*ACKNOWLEDGED))
        callers = self._callers(stage, random)
        async with asyncio.TaskGroup() as posting:
            for caller in callers:
                posting.create_task(caller.post_until_struck())
            await stage.is_warm.wait()
            await asyncio.sleep(random.uniform(*CALM_SECONDS))
            await self._strike(stage, victim, random)
        posts = [post for caller in callers for post in caller.posts]
        self._count(victim, posts)
        await self._check(posts)
        return any(post.is_struck for post in posts)

    def _callers(self, stage: Stage, random: Random) -> list[Caller]:
        number = self.tally.kills.total()
        return [
            Caller(stage, f"{number} {caller}", lines, caller, Random(random.random()))
            for caller, lines in enumerate(self._lines)
        ]

    async def _strike(self, stage: Stage, victim: Victim, random: Random) -> None:
        """Kill, and bring back what was killed."""
        stage.struck_at = time.time()
        match victim:
            case Victim.NODE:
                chosen = [random.choice(NODES)]
                await self._nodes.kill(chosen)
                await self._nodes.start(chosen)
            case Victim.NODES:
                stage.is_open.clear()
                await self._nodes.kill(NODES)
                await self._nodes.start(NODES)
                stage.is_open.set()
            case Victim.DATABASE:
                assert self.server is not None
                await asyncio.to_thread(self.server.restart, "immediate")

    def _count(self, victim: Victim, posts: Sequence[Post]) -> None:
        self.tally.add(victim, posts)
        self._told |= {post.told for post in posts if post.told is not None}

    async def _check(self, posts: Sequence[Post]) -> None:
        """The jobs of a round, which are the newest."""
        names = {post.name for post in posts}
        newest, _ = await self._page(limit=min(len(posts) + SLACK, PAGE_LIMIT_MAX))
        told = {post.told for post in posts if post.told is not None}
        self.tally.compare(told, [(name, job_id) for name, job_id in newest if name in names])

    async def _check_all(self) -> None:
        """One job for each POST, under the id that was told, and no others."""
        kept, cursor = await self._page(limit=PAGE_LIMIT_MAX)
        while cursor is not None:
            page, cursor = await self._page(limit=PAGE_LIMIT_MAX, cursor=cursor)
            kept += page
        self.tally.compare(self._told, kept)

    async def _page(self, **query: object) -> tuple[list[Told], str | None]:
        answer = await self._lines[0][0].get(f"/v1/jobs?{urlencode(query)}")
        assert answer.status == 200, answer
        return [(job["name"], job["job_id"]) for job in answer.body["jobs"]], answer.body["next_cursor"]
