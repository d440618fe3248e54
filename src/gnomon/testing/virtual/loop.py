"""An event loop whose time is virtual: it never waits, it jumps to the next timer.

What runs in it cannot tell. Callbacks that are ready run in the order that asyncio promises. Timers that are
due at the very same instant run in an order that chance decides, since nothing promises one.
"""

from __future__ import annotations

import asyncio
import io
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from heapq import heappop, heappush
from random import Random
from types import coroutine
from typing import Any, TypeVar, TypeVarTuple, Unpack

_Answer = TypeVar("_Answer")
_Ts = TypeVarTuple("_Ts")

# So many turns of the loop without a timer: something goes round in circles, and time stands still.
TURNS_MAX = 200_000
STACK_FRAMES_SHOWN = 8


class Deadlock(AssertionError):
    """Everybody waits and nothing will ever happen; or everybody is busy and time never goes on."""


class Strand:
    """Code that can be held as a whole, like a thread or a process: it stands still between two callbacks.

    Code belongs to the strand in whose context it runs.
    """

    __slots__ = ("_held", "holds", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.holds = 0  # Several may hold it at once, each for a reason of its own.
        self._held: deque[asyncio.Handle] = deque()

    def keep(self, handle: asyncio.Handle) -> None:
        self._held.append(handle)

    def take_kept(self) -> deque[asyncio.Handle]:
        kept, self._held = self._held, deque()
        return kept


STRAND: ContextVar[Strand | None] = ContextVar("gnomon_sim_strand", default=None)


class _Soon(asyncio.Handle):
    """A handle that is made quickly: it does not ask whether anybody debugs."""

    __slots__ = ()

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: VirtualLoop,
        context: Context | None,
    ) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = self._source_traceback = None


class _Timer(asyncio.TimerHandle):
    __slots__ = ()

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: VirtualLoop,
        context: Context | None,
    ) -> None:
        self._context = copy_context() if context is None else context
        self._loop = loop
        self._callback = callback
        self._args = args
        self._cancelled = False
        self._repr = self._source_traceback = None
        self._when = when
        self._scheduled = False

    def cancel(self) -> None:
        """It is left out when its time comes."""
        self._cancelled = True
        self._callback = self._args = None  # type: ignore[assignment]


class VirtualLoop(asyncio.BaseEventLoop):
    """Single-threaded, without sockets, signals or threads. `chance` decides between equal timers."""

    # What the base class keeps, and nobody has typed.
    _ready: deque[asyncio.Handle]
    _stopping: bool

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.turns = 0
        self._now = 0.0
        self._tie = chance.random
        self._turns_at_once = 0
        self._timers: list[tuple[float, float, asyncio.TimerHandle]] = []
        self._is_closing = False
        self._held: dict[Strand, None] = {}

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        handle = _Soon(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """There is one thread."""
        return self.call_soon(callback, *args, context=context)

    def call_later(
        self,
        delay: float,
        callback: Callable[[Unpack[_Ts]], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        when = self._now + delay
        timer = _Timer(when, callback, args, self, context)
        heappush(self._timers, (when, self._tie(), timer))
        return timer

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[_Ts]], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = _Timer(when, callback, args, self, context)
        heappush(self._timers, (when, self._tie(), timer))
        return timer

    def start(self, begun: Coroutine[Any, Any, None], context: Context) -> None:
        """Run it from here to where it first waits, mostly its end; a task does the rest, if any."""
        try:
            waiting = begun.send(None)
        except StopIteration:
            return
        self.create_task(_rest(begun, waiting), context=context)

    def skip_to(self, instant: float) -> None:
        """As if everybody had been held until then: what was due on the way is done at once, and late."""
        self._now = max(self._now, instant)

    def hold(self, strand: Strand) -> None:
        """Nothing of it runs from now on, not even a timer, until it is let go as often as it was held."""
        strand.holds += 1
        self._held[strand] = None

    def let_go(self, strand: Strand) -> None:
        assert strand.holds > 0
        strand.holds -= 1
        if not strand.holds:
            del self._held[strand]
            self._ready.extend(strand.take_kept())

    def run(self, main: Coroutine[Any, Any, _Answer]) -> _Answer:
        """To the end of `main`; what it leaves running is cancelled. Closes the loop."""
        try:
            return self.run_until_complete(main)
        finally:
            try:
                self._cancel_all()
            finally:
                self.close()

    def _cancel_all(self) -> None:
        """Also what was held, for ever perhaps: it gets the chance to come to an end."""
        self._is_closing = True
        for strand in self._held:
            self._ready.extend(strand.take_kept())
        while tasks := asyncio.all_tasks(self):  # Who ends may start others.
            for task in tasks:
                task.cancel()
            self.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self.run_until_complete(self.shutdown_asyncgens())

    def _run_once(self) -> None:
        """Turn after turn, until somebody stops the loop: the only place where time goes on."""
        ready, next_ready = self._ready, self._ready.popleft
        while True:
            if not ready:
                self._advance()
            else:
                self._turns_at_once += 1
                if self._turns_at_once > TURNS_MAX:
                    raise Deadlock(f"Time stands still at {self._now:.6f} s.\n{self.stacks()}")
            self.turns += 1
            for _ in range(len(ready)):
                handle = next_ready()
                if handle._cancelled:
                    continue
                strand = handle._context.get(STRAND)  # type: ignore[attr-defined]
                if strand is not None and strand.holds and not self._is_closing:
                    strand.keep(handle)
                else:
                    handle._run()
            if self._stopping:
                return

    def _advance(self) -> None:
        """To the next timer, and to all others that are due at the same instant."""
        timers, ready = self._timers, self._ready
        while timers and timers[0][2]._cancelled:
            heappop(timers)
        if not timers:
            raise Deadlock(f"Nothing will ever happen after {self._now:.6f} s.\n{self.stacks()}")
        self._turns_at_once = 0
        self._now = now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= now:
            timer = heappop(timers)[2]
            if not timer._cancelled:
                ready.append(timer)

    def stacks(self) -> str:
        """Where every task is."""
        out = io.StringIO()
        for task in sorted(asyncio.all_tasks(self), key=lambda task: task.get_name()):
            task.print_stack(limit=STACK_FRAMES_SHOWN, file=out)
        return out.getvalue()

    # What the base class asks for and this loop has no need of ----------------------------------------

    def _process_events(self, event_list: object) -> None:
        """There are no sockets."""

    def _write_to_self(self) -> None:
        """Nobody else could wake us up."""

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is left out when its time comes."""


@coroutine
def _rest(begun: Coroutine[Any, Any, None], waiting: Any) -> Generator[Any, Any, None]:
    """A coroutine that waits for something already, as one that a task can run."""
    while True:
        try:
            try:
                answer = yield waiting
            except BaseException as error:
                waiting = begun.throw(error)
            else:
                waiting = begun.send(answer)
        except StopIteration:
            return
