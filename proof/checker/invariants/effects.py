"""E: what the world saw of a run."""

from __future__ import annotations

from collections.abc import Iterator

from proof.checker.history.events import Cancelled, Done, Effect
from proof.checker.index import Index
from proof.checker.runs import Run
from proof.checker.verdict import Findings


def e1(index: Index) -> Findings:
    """What a run writes into the store is there once if it is done, by the same transaction, and else not."""
    found = Findings("E1")
    for run in _runs_with(index, "store"):
        found.checked += 1
        effects = [effect for effect in index.effects.get(run.id, ()) if effect.v is not None]
        done = _done(run)
        if done is None:
            if effects:
                found.add(run.entity, "it is not done, and left an effect in the store.", effects[0])
        elif len(effects) != 1:
            found.add(run.entity, f"it is done, and left {len(effects)} effects in the store.", done)
        elif effects[0].v != done.v or effects[0].token != done.token:
            found.add(run.entity, "its effect is of another transaction.", effects[0])
    return found


def e2(index: Index) -> Findings:
    """Each effect in the sink belongs to a start, and a run has no more of them than starts."""
    found = Findings("E2")
    for name in index.effects:
        run = index.runs[name]
        effects = _in_sink(index, run)
        tokens = {start.token for start in run.starts}
        found.checked += len(effects)
        for effect in effects:
            if effect.token not in tokens:
                found.add(
                    run.entity, f"an effect with the token {effect.token}, which never started.", effect
                )
        if len(effects) > len(run.starts):
            found.add(run.entity, f"{len(effects)} effects and {len(run.starts)} starts.", effects[-1])
    return found


def e3(index: Index) -> Findings:
    """A sink that looks at the token has exactly one effect of a run that is done."""
    found = Findings("E3")
    for run in _runs_with(index, "fenced"):
        done = _done(run)
        if done is None:
            continue
        found.checked += 1
        effects = _in_sink(index, run)
        if len(effects) != 1:
            found.add(run.entity, f"it is done, and the sink has {len(effects)} effects of it.", done)
    return found


def e4(index: Index) -> Findings:
    """What runs at most once starts at most once."""
    found = Findings("E4")
    for run in index.runs.values():
        if run.spec is None or run.spec.delivery != "at_most_once":
            continue
        found.checked += 1
        if len(run.starts) > 1:
            found.add(run.entity, f"it started {len(run.starts)} times.", run.starts[1])
    return found


def e5(index: Index) -> Findings:
    """A run that was cancelled has no effect any more, once its handler had the time to stop."""
    found = Findings("E5")
    known = index.parameters
    for name in index.effects:
        run = index.runs[name]
        ending = run.ending
        if not isinstance(ending, Cancelled) or ending.db is None:
            continue
        who = {start.token: start.src for start in run.starts}
        for effect in _in_sink(index, run):
            found.checked += 1
            if effect.when is None or effect.when <= ending.db + known.grace + known.clock:
                continue
            # Who stood still, or was cut off, could not be told to stop.
            if index.faults.is_healthy(who.get(effect.token, effect.src), ending.db, effect.when):
                found.add(run.entity, "an effect after it was cancelled.", effect)
    return found


def _runs_with(index: Index, kind: str) -> Iterator[Run]:
    return (run for run in index.runs.values() if index.parameters.effect_of(run.job) == kind)


def _in_sink(index: Index, run: Run) -> list[Effect]:
    return [effect for effect in index.effects.get(run.id, ()) if effect.v is None]


def _done(run: Run) -> Done | None:
    ending = run.ending
    return ending if isinstance(ending, Done) else None
