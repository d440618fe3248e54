"""A siege: one attack after the other on a real node, while a caller with good intentions uses it.

Judged is what may never be: a call that waits for more than a second or gets anything but a 200, a connection
that is open after its deadline, a stream that outlives its key, memory that grows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import quantiles
from time import monotonic, sleep

import httpx

from gnomon.settings import ApiSettings
from tests.siege.attacks import Attack, attacks
from tests.siege.crowd import Crowd

PROBES = ("/livez", "/readyz", "/v1/jobs")
PAUSE_SECONDS = 0.1
ANSWERED_WITHIN_SECONDS = 30.0
REVOKED_WITHIN_SECONDS = 10.0
MEMORY_GROWTH_MAX = 64 * 1024 * 1024


@dataclass
class Caller:
    """Calls in turn, each over a new connection, from an address that takes part in the attacks."""

    url: str
    key: str
    patience_seconds: float
    waits: list[float] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Caller:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        transport = httpx.HTTPTransport(local_address="127.0.1.1")
        with httpx.Client(transport=transport, base_url=self.url, headers=headers, timeout=30) as http:
            while not self._over.wait(PAUSE_SECONDS):
                for path in PROBES:
                    self._call(http, path)

    def _call(self, http: httpx.Client, path: str) -> None:
        began = monotonic()
        try:
            status: object = http.get(path, headers={"Connection": "close"}).status_code
        except httpx.HTTPError as error:
            status = repr(error)
        waited = monotonic() - began
        self.waits.append(waited)
        if status != 200 or waited > self.patience_seconds:
            self.bad.append(f"{path}: {status} after {waited:.2f} s")


@dataclass(frozen=True)
class Outcome:
    attack: str
    opened: int
    closed: int
    late: int
    answers: dict[int, int]
    p99: float
    worst: float
    bad: tuple[str, ...]
    memory_bytes: int

    @property
    def row(self) -> str:
        answers = " ".join(f"{status}:{count}" for status, count in sorted(self.answers.items()))
        return (
            f"{self.attack:22}{self.opened:7}{self.closed:8}{self.late:6}{self.p99 * 1000:9.0f}"
            f"{self.worst * 1000:9.0f}{len(self.bad):5}{self.memory_bytes / 1e6:9.1f}  {answers}"
        )


HEAD = "attack                 opened  closed  late   p99 ms   max ms  bad   RSS MB  answers"


@dataclass
class Siege:
    """`chosen` are the settings of the node. A connection may be closed `grace_seconds` late."""

    port: int
    process_id: int
    key: str
    chosen: ApiSettings
    seed: int
    crowd: int
    grace_seconds: float = 5.0
    patience_seconds: float = 1.0
    hold_streams_seconds: float = 20.0
    outcomes: list[Outcome] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._url = f"http://127.0.0.1:{self.port}"
        self._headers = {"Authorization": f"Bearer {self.key}"}

    def run(self, *, until: Callable[[], bool], told: Callable[[Outcome], None]) -> None:
        """Round after round, in an order drawn anew; the first one is whole."""
        while True:
            key_id, reader = self._reader()
            drawn = attacks(self.chosen, crowd=self.crowd, key=self.key, reader=reader)
            self._random.shuffle(drawn)
            for attack in drawn:
                self.outcomes.append(self._attack(attack, key_id))
                told(self.outcomes[-1])
                if len(self.outcomes) >= len(drawn) and until():
                    return

    def complaints(self) -> list[str]:
        found = [f"{one.attack}: {bad}" for one in self.outcomes for bad in one.bad]
        found += [f"{one.attack}: {one.late} connections outlived it" for one in self.outcomes if one.late]
        # The first of all attacks fills caches and pools; what grows after that, grows for ever.
        first, last = self.outcomes[0].memory_bytes, self.outcomes[-1].memory_bytes
        if last - first > MEMORY_GROWTH_MAX:
            found.append(f"memory grew by {(last - first) / 1e6:.0f} MB")
        return found

    def _attack(self, attack: Attack, reader_id: str) -> Outcome:
        crowd = Crowd(self.port, attack, grace_seconds=self.grace_seconds)
        with Caller(self._url, self.key, self.patience_seconds) as caller:
            crowd.open_all()
            if attack.within is not None:
                seconds = attack.within.total_seconds() + self.grace_seconds
                self._hold(crowd, seconds, until=lambda: not crowd.held)
            else:
                self._stream(crowd, reader_id)
            crowd.leave()
        return Outcome(
            attack.name,
            crowd.opened,
            crowd.closed,
            crowd.late,
            dict(crowd.answers),
            quantiles([*caller.waits, 0.0], n=100)[-1],
            max(caller.waits, default=0.0),
            tuple(caller.bad),
            self._memory(),
        )

    def _hold(self, crowd: Crowd, seconds: float, *, until: Callable[[], bool]) -> None:
        end = monotonic() + seconds
        while not until() and monotonic() < end:
            crowd.drip()
            crowd.look()
            sleep(PAUSE_SECONDS)

    def _stream(self, crowd: Crowd, reader_id: str) -> None:
        """Until all are answered, and a while longer; then the key is revoked, and all streams must end."""
        self._hold(crowd, self.hold_streams_seconds, until=lambda: False)
        self._hold(crowd, ANSWERED_WITHIN_SECONDS, until=lambda: crowd.answers.total() >= crowd.opened)
        httpx.delete(f"{self._url}/v1/keys/{reader_id}", headers=self._headers).raise_for_status()
        self._hold(crowd, REVOKED_WITHIN_SECONDS, until=lambda: not crowd.streaming)
        crowd.late += len(crowd.streaming) + crowd.opened - crowd.answers.total()

    def _reader(self) -> tuple[str, str]:
        form = {"name": "reader", "scopes": ["read"]}
        made = httpx.post(f"{self._url}/v1/keys", json=form, headers=self._headers).raise_for_status().json()
        return made["key_id"], made["key"]

    def _memory(self) -> int:
        text = Path(f"/proc/{self.process_id}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) * 1024
