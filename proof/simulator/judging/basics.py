"""What must be true of every story, whoever else judges it: the history and the store tell the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from gnomon.core.executions.execution import AttemptOutcome, ExecutionStatus
from proof.checker.faults import FINAL
from proof.checker.history import events
from proof.simulator.world.story import Story

# What is claimable for so long, while nothing goes wrong, has been forgotten.
FORGOTTEN_AFTER = timedelta(minutes=4)

# Who claims again may still be giving back what came too late. If it is killed so soon, that is lost with it.
SEEN_TO_WITHIN = timedelta(seconds=30)

# A worker renews what it knows of: also what it gives back while it cannot write, perhaps until it is ended.
_SEEN_TO = (events.Start, events.Beat, events.Released, events.Refused, events.Cancelled)
_ENDINGS = (events.Done, events.Cancelled, events.Dead, events.Abandoned, events.DagEnd)


def basics(story: Story) -> list[str]:
    """Sentences about what is wrong; none if all is well."""
    return [*story.bugs, *_endings(story), *_leaks(story), *_fires(story), *_kept(story), *_forgotten(story)]


def _endings(story: Story) -> Iterator[str]:
    tokens: dict[str, int] = {}
    ended: set[str] = set()
    for event in story.events:
        if isinstance(event, events.Claim):
            if event.run in ended:
                yield f"run {event.run} was claimed after its end"
            if event.token <= tokens.get(event.run, 0):
                yield f"run {event.run}: token {event.token} was handed out twice"
            tokens[event.run] = event.token
        elif isinstance(event, events.DagAgain):
            ended.discard(event.run)
        elif isinstance(event, events.Change | events.DagEnd):
            token = getattr(event, "token", None)
            if token not in (None, tokens.get(event.run)):
                yield f"run {event.run}: a stale write was accepted, token {token}"
            if event.run in ended:
                yield f"run {event.run} changed after its end"
            if isinstance(event, _ENDINGS):
                ended.add(event.run)
    yield from _disagreements(story, ended)


def _disagreements(story: Story, ended: set[str]) -> Iterator[str]:
    over = {str(one.id) for one in story.runs if one.status.is_final}
    for run in sorted(ended ^ over):
        where, not_where = ("history", "store") if run in ended else ("store", "history")
        yield f"run {run} has ended, says the {where}; the {not_where} says that it has not"


def _leaks(story: Story) -> Iterator[str]:
    """Who asks for something new has seen to all that it holds: a lost answer is asked for again."""
    seen_to = {
        (event.run, event.token)
        for event in story.events
        if isinstance(event, _SEEN_TO) and _by_holder(event)
    }
    kills = [event for event in story.events if isinstance(event, events.FaultBegin) and event.kind in FINAL]
    held: dict[str, events.Claim] = {}
    for event in story.events:
        if isinstance(event, events.Change):
            held.pop(event.run, None)
        elif isinstance(event, events.Claim):
            for run, earlier in list(held.items()):
                if earlier.holder == event.holder and earlier.req != event.req:
                    del held[run]
                    if (run, earlier.token) not in seen_to and not _was_killed(earlier, event, kills):
                        yield f"run {run}: {event.holder} claimed it, forgot it, and went on"
            held[event.run] = event


def _was_killed(earlier: events.Claim, later: events.Claim, kills: list[events.FaultBegin]) -> bool:
    since, until = earlier.when, later.when
    assert since is not None
    assert until is not None
    return any(
        kill.target in (later.holder, later.worker)
        and kill.when is not None
        and since <= kill.when <= until + SEEN_TO_WITHIN
        for kill in kills
    )


def _by_holder(
    event: events.Start | events.Beat | events.Released | events.Refused | events.Cancelled,
) -> bool:
    match event:
        case events.Refused(op=op):
            return op != AttemptOutcome.EXPIRED  # That was somebody who wanted to take it back, too late.
        case events.Cancelled(why=why):
            # What is given back after somebody asked for its end does not wait again: it ends.
            return why == "released"
        case _:
            return True


def _fires(story: Story) -> Iterator[str]:
    times = Counter((event.job, event.due) for event in story.events if isinstance(event, events.Fire))
    for (job, due), count in times.items():
        if count > 1:
            yield f"job {job} fired {count} times for {due}"


def _kept(story: Story) -> Iterator[str]:
    kept = {str(one.id) for one in story.runs}
    for event in story.events:
        match event:
            case events.Fire(run=run) | events.Enqueue(run=run) | events.DagRelease(run=run) if (
                run not in kept
            ):
                yield f"run {run} was made and is lost"
            case events.SubmitOk(run=str() as run) if run not in kept:
                yield f"run {run} was acknowledged and is lost"
            case _:
                pass


def _forgotten(story: Story) -> Iterator[str]:
    scenario = story.scenario
    if scenario.seconds - scenario.healed_at < FORGOTTEN_AFTER.total_seconds():
        return
    until = scenario.start + timedelta(seconds=scenario.seconds) - FORGOTTEN_AFTER
    moves = _moves(story)
    for one in story.runs:
        if one.status is not ExecutionStatus.QUEUED:
            continue
        # One that was ahead of it may have had its place, until it last moved. Who came later is no excuse.
        ahead = [
            move.at
            for move in moves
            if (move.priority, one.due) > (one.priority, move.due)
            or (move.job == str(one.job_id) and move.due <= one.due)
        ]
        since = max([one.due, *ahead])
        if since < until:
            yield f"run {one.id} has been claimable since {since} and nobody runs it"


class _Move(NamedTuple):
    job: str
    at: datetime
    due: datetime
    priority: int


def _moves(story: Story) -> list[_Move]:
    specs: dict[tuple[str, int], events.SchedSet] = {}
    births: dict[str, events.Birth] = {}
    moves: list[_Move] = []
    for event in story.events:
        match event:
            case events.SchedSet(job=job, rev=rev):
                specs[job, rev] = event
            case events.Fire(run=run) | events.Enqueue(run=run) | events.DagRelease(run=run):
                births[run] = event
            case events.Change(run=run, db=datetime() as db):
                birth = births[run]
                spec = specs[birth.job, birth.rev]
                priority = spec.priority if birth.priority is None else birth.priority
                moves.append(_Move(birth.job, db, birth.run_at or db, priority))
            case _:
                pass
    return moves
