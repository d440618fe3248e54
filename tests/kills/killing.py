"""POSTs to an API node that is killed, or whose database is, again and again.

What was acknowledged is there afterwards, under the id that was told. What got no answer is asked again
with its key, and ends as one job. A round is one POST whose fate a fault could have changed: one that was in
flight when the fault struck, or the last one of its caller that was acknowledged before. All others are
checked, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import httpx

from gnomon.app import open_database
from gnomon.app.connection import open_connection
from gnomon.store.migrate import migrate
from tests.acceptance.test_api import DUMMY, calling, node
from tests.postgres import PostgresServer, free_port

CALLERS = 32
# From the first answer to the fault.
CALM_SECONDS = (0.0, 0.5)
INSIST_SECONDS_MAX = 60.0
PAUSE_SECONDS = 0.05
PAGE = 100


@dataclass
class Post:
    name: str
    is_struck: bool = False  # It had no answer when the fault struck.
    job_id: str | None = None


@dataclass
class Kills:
    """`database` is where jobs are kept; `server` is its PostgreSQL, which is then stopped in turn."""

    folder: Path
    database: str
    seed: int
    server: PostgresServer | None = None
    rounds: int = 0
    kills: int = 0
    struck: int = 0
    posts: list[Post] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._port = free_port()

    async def run(self, *, rounds: int) -> None:
        async with self._calling() as (http, nodes):
            while self.rounds < rounds:
                await self._cycle(http, nodes)
            await self._check(http)

    async def all_at_once(self, *, callers: int, after_the_first: bool) -> None:
        """Many callers, one key and one kill: before anybody has an answer, or after the first one has."""
        async with self._calling() as (http, nodes):
            posts = [Post("once") for _ in range(callers)]
            asked = [asyncio.create_task(Caller(http, "").insist(post)) for post in posts]
            if after_the_first:
                await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(self._random.uniform(0.0, 0.05))
            self._node.kill()
            self._start(nodes)
            for post, job_id in zip(posts, await asyncio.gather(*asked), strict=True):
                post.job_id = job_id
            assert len({post.job_id for post in posts}) == 1
            self.posts = posts[:1]
            await self._check(http)

    @asynccontextmanager
    async def _calling(self) -> AsyncIterator[tuple[httpx.AsyncClient, ExitStack]]:
        key = await self._prepared()
        with ExitStack() as nodes:
            self._start(nodes)
            async with calling(self._node.url, key) as http:
                yield http, nodes

    async def _prepared(self) -> str:
        database = await open_database(self.database)
        await migrate(database, now=datetime.now(UTC))
        await database.close()
        connection = await open_connection(self.database, lambda _: None)
        key = await connection.client.keys.create("kills", ["admin"])
        await connection.close()
        return key.text

    def _start(self, nodes: ExitStack) -> None:
        # Quiet, since nobody reads what it says while it runs.
        words = ("api", "--database", self.database, "--log-level", "error")
        self._node = nodes.enter_context(node(self.folder, *words, port=self._port))

    async def _cycle(self, http: httpx.AsyncClient, nodes: ExitStack) -> None:
        """Post, strike, ask again until all is answered."""
        answered = asyncio.Event()
        callers = [Caller(http, f"{self.kills} {number}", answered) for number in range(CALLERS)]
        posting = [asyncio.create_task(caller.post_until_struck()) for caller in callers]
        await answered.wait()
        await asyncio.sleep(self._random.uniform(*CALM_SECONDS))
        if self.server is None or self.kills % 2 == 0:
            self._node.kill()
            self._start(nodes)
        else:
            await asyncio.to_thread(self.server.restart, "immediate")
        for caller in callers:
            caller.is_struck = True
        await asyncio.gather(*posting)
        self._count(callers)

    def _count(self, callers: Sequence[Caller]) -> None:
        self.kills += 1
        for caller in callers:
            assert caller.posts[-1].job_id is not None
            struck = sum(post.is_struck for post in caller.posts)
            self.struck += struck
            self.rounds += min(len(caller.posts), struck + 1)
            self.posts += caller.posts

    async def _check(self, http: httpx.AsyncClient) -> None:
        """One job for each POST, under the id that was told, and no others."""
        found: list[tuple[str, str]] = []
        cursor: str | None = None
        while True:
            query = {"limit": PAGE} | ({} if cursor is None else {"cursor": cursor})
            page = (await http.get("/v1/jobs", params=query)).json()
            found += [(job["name"], job["job_id"]) for job in page["jobs"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        kept = dict(found)
        assert len(kept) == len(found), "a POST made two jobs"
        told = {post.name: post.job_id for post in self.posts}
        lost = sorted(name for name in told if name not in kept)
        assert not lost, f"acknowledged and lost: {lost}"
        assert kept == told, "some job is not what its caller was told"


@dataclass
class Caller:
    """One POST after the other, each with a key of its own, until the fault has struck."""

    http: httpx.AsyncClient
    name: str
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    is_struck: bool = False
    posts: list[Post] = field(default_factory=list)

    async def post_until_struck(self) -> None:
        while not self.is_struck:
            post = Post(f"{self.name} {len(self.posts)}")
            self.posts.append(post)
            post.job_id = await self.insist(post)
            self.answered.set()

    async def insist(self, post: Post) -> str:
        """The same call with the same key, until there is an answer."""
        headers = {"Idempotency-Key": f"key of {post.name}"}
        over = _after(INSIST_SECONDS_MAX)
        while not over():
            try:
                answer = await self.http.post("/v1/jobs", json={"name": post.name, **DUMMY}, headers=headers)
            except httpx.TransportError:
                post.is_struck = True
            else:
                if answer.status_code == httpx.codes.CREATED:
                    return str(answer.json()["job_id"])
                post.is_struck = True
                assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE, answer.text
            await asyncio.sleep(PAUSE_SECONDS)
        raise AssertionError(f"{post.name}: no answer within {INSIST_SECONDS_MAX:g} s")


def _after(seconds: float) -> Callable[[], bool]:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    return lambda: loop.time() >= end
