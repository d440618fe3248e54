"""The pen that writes a history: numbers, times and the hash; and what processes say of themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from gnomon.handlers.base import Context
from proof.checker.history import events
from proof.checker.history.events import AnyEvent, Event

if TYPE_CHECKING:
    from proof.simulator.world.network import Call
    from proof.simulator.world.node import SimulatedBoot

STORE = "store"
NEMESIS = "nemesis"
ALIVE_EVERY = timedelta(seconds=5)

# Verbs whose lost replies matter most, in the words of the checker.
_OPS = {
    ("executions", "claim"): "claim",
    ("executions", "apply"): "complete",
    ("executions", "apply_and_claim"): "complete",
    ("schedules", "fire"): "fire",
    ("executions", "enqueue"): "submit",
}

E = TypeVar("E", bound=Event)
_encode = msgspec.json.Encoder().encode


class Pen:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.events: list[AnyEvent] = []
        self.on_event: Callable[[Event], None] | None = None
        self._now = now
        self._counts: Counter[str] = Counter()
        self._hash = sha256()
        self._alive: dict[str, datetime] = {}
        self.seen: Counter[str] = Counter()

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()

    def write(self, make: Callable[..., E], src: str, **fields: Any) -> E:
        """An event that is no store's: true time is `wall`."""
        return self._keep(make(src=src, n=self._count(src), wall=self._now(), **fields))

    def stored(self, make: Callable[..., E], **fields: Any) -> E:
        return self._keep(make(src=STORE, n=self._count(STORE), db=self._now(), **fields))

    def _count(self, src: str) -> int:
        self._counts[src] += 1
        return self._counts[src]

    def _keep(self, event: E) -> E:
        self.events.append(event)  # type: ignore[arg-type]
        self._hash.update(_encode(event))
        if self.on_event is not None:
            self.on_event(event)
        return event

    def reply_lost(self, call: Call, answer: Any) -> None:
        self.seen[f"lost_reply.{call.noun}.{call.verb}"] += 1
        op = _OPS.get((call.noun, call.verb))
        if op is not None and answer:  # Not if nothing was claimed, fired or made: then nothing is in doubt.
            fault = f"reply-{self.seen.total()}"
            fields = {"kind": "lost_reply", "target": call.line.source, "fault": fault}
            self.write(events.FaultBegin, NEMESIS, op=op, **fields)
            self.write(events.FaultEnd, NEMESIS, **fields)

    # Processes ------------------------------------------------------------------------------------------

    def up(self, boot: SimulatedBoot) -> None:
        self.write(
            events.Up, boot.source, role=str(boot.node.spec.role), slots=boot.slots, queues=boot.queues
        )

    def down(self, boot: SimulatedBoot) -> None:
        self.write(events.Down, boot.source)

    def alive(self, source: str) -> None:
        now = self._now()
        if now - self._alive.get(source, now - ALIVE_EVERY) >= ALIVE_EVERY:
            self._alive[source] = now
            self.write(events.Alive, source)

    def started(
        self, boot: SimulatedBoot, context: Context, inputs: dict[str, tuple[str, ...]] | None = None
    ) -> None:
        self._attempt(events.Start, boot, context, inputs=inputs)

    def exited(self, boot: SimulatedBoot, context: Context, code: int) -> None:
        self._attempt(events.Exit, boot, context, rc=code)

    def told(self, boot: SimulatedBoot, context: Context) -> None:
        if not boot.line.is_dead:
            self.write(events.Told, boot.source, run=str(context.execution_id), token=context.claim)

    def effect(self, boot: SimulatedBoot, context: Context) -> None:
        self._attempt(events.Effect, boot, context)

    def _attempt(self, make: Callable[..., E], boot: SimulatedBoot, context: Context, **fields: Any) -> None:
        if not boot.line.is_dead:
            self.write(
                make,
                boot.source,
                run=str(context.execution_id),
                attempt=context.attempt,
                token=context.claim,
                **fields,
            )
