"""Many seeds, on all cores: each world in a process of its own, so that none can disturb another."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from time import process_time

from proof.simulator.judging.judge import Judgement, judge
from proof.simulator.seeds.profiles import draw

# The collector runs seldom: a world makes many objects and few circles.
GC_THRESHOLD = 200_000


@dataclass(slots=True)
class Tally:
    """What a campaign adds up to."""

    seeds: int = 0
    hours: float = 0.0
    events: int = 0
    runs: int = 0
    faults: int = 0
    calls: int = 0
    cpu: float = 0.0
    coverage: Counter[str] = field(default_factory=Counter)

    def add(self, one: Judgement) -> None:
        self.seeds += 1
        self.hours += one.scenario.hours
        self.events += one.events
        self.runs += one.runs
        self.faults += one.faults
        self.calls += one.calls
        self.cpu += one.cpu
        self.coverage += one.coverage


def judge_seed(seed: int, hours: float, profile: str) -> Judgement:
    began = process_time()
    judgement = judge(draw(seed, hours=hours, profile=profile))
    return replace(judgement, cpu=process_time() - began)


def judged(
    seeds: Sequence[int], *, hours: float, profile: str, processes: int | None = None
) -> Iterator[Judgement]:
    """The judgement of every seed, as soon as it is there."""
    processes = min(processes or os.cpu_count() or 1, len(seeds))
    # Fresh processes: they share nothing with whoever started us, not even its threads.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_prepare)
    with pool:
        futures = [pool.submit(judge_seed, seed, hours, profile) for seed in seeds]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _prepare() -> None:
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
