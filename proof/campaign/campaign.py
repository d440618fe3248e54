"""Everything that runs in one campaign, and the histories that it writes itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.core.jobs.job import JobId
from gnomon.store.protocols.changes import Applied
from proof.campaign import clock
from proof.campaign.cluster.nodes import Node
from proof.campaign.faults.disk import Disk
from proof.campaign.faults.proxy import PgProxy
from proof.campaign.plan import Kind
from proof.campaign.workload.clients import Client
from proof.campaign.workload.flows import Flow
from proof.campaign.workload.workload import Work
from proof.checker.history import events
from proof.checker.history.files import History, line
from tests.pooler import Pooler
from tests.postgres import PostgresServer

DATABASE = "campaign"


@dataclass(frozen=True, slots=True)
class Options:
    seconds: float  # Of faults.
    quiet: float
    seed: int
    lease: float
    rate: float  # Questions of clients a second.
    folder: Path
    without: frozenset[Kind] = frozenset()


@dataclass
class Campaign:
    """Everything that runs. `unexpected` are the processes that ended though nobody wanted that."""

    options: Options
    server: PostgresServer
    disk: Disk
    pooler: Pooler | None
    nodes: dict[str, Node] = field(default_factory=dict)
    wires: dict[str, PgProxy] = field(default_factory=dict)
    clients: list[Client] = field(default_factory=list)
    jobs: dict[str, JobId] = field(default_factory=dict)
    key: str = ""  # Of the clients.
    works: Sequence[Work] = ()
    flows: Sequence[Flow] = ()
    unexpected: list[str] = field(default_factory=list)
    still: Mapping[str, str] = field(default_factory=dict)
    replayed: Counter[Applied] = field(default_factory=Counter)
    _sources: dict[str, History] = field(default_factory=dict)

    @property
    def histories(self) -> Path:
        return self.options.folder / "history"

    def history(self, source: str) -> History:
        """Of a source that the campaign itself writes for."""
        if source not in self._sources:
            path = self.histories / f"{source.replace('/', '.')}.jsonl"
            self._sources[source] = History(path, source, now=clock.now)
        return self._sources[source]

    def began(self, node: Node) -> None:
        """A worker says so itself; of the API there is nothing to expect but its answers."""
        if node.role == "scheduler":
            self.history(node.source).write(events.Up, role=node.role)

    def ended(self, node: Node, code: int) -> None:
        if not node.is_expected:
            self.unexpected.append(f"{node.source} ended with {code}; see {node.log.name}")
        if node.role == "scheduler":
            self.history(node.source).write(events.Down, rc=code)
        elif node.role == "worker":
            self._down(node.source, code)

    def _down(self, source: str, code: int) -> None:
        """Nobody else writes into the file of a worker that is gone. A torn line was never said."""
        path = self.histories / f"{source.replace('/', '.')}.jsonl"
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        moment = clock.now()
        down = events.Down(src=source, n=whole.count(b"\n") + 1, wall=moment.wall, mono=moment.mono, rc=code)
        path.write_bytes(whole + line(down))
