"""What must be true of every story, whoever else judges it: the history and the store tell the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from gnomon.core.execution import ExecutionStatus
from gnomon.proof import events
from gnomon.testing.sim.story import Story

# What is claimable for so long, while nothing goes wrong, has been forgotten.
FORGOTTEN_AFTER = timedelta(minutes=4)

_ENDINGS = (events.Done, events.Cancelled, events.Dead, events.Abandoned)


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
        elif isinstance(event, events.Change):
            if event.token is not None and event.token != tokens[event.run]:
                yield f"run {event.run}: a stale write was accepted, token {event.token}"
            if event.run in ended:
                yield f"run {event.run} changed after its end"
            if isinstance(event, _ENDINGS):
                ended.add(event.run)
    over = {str(one.id) for one in story.runs if one.status.is_final}
    for run in sorted(ended ^ over):
        where, not_where = ("history", "store") if run in ended else ("store", "history")
        yield f"run {run} has ended, says the {where}; the {not_where} says that it has not"


def _leaks(story: Story) -> Iterator[str]:
    """Who asks for something new has seen to all that it holds: a lost answer is asked for again."""
    seen_to = {
        (event.run, event.token)
        for event in story.events
        if isinstance(event, events.Start | events.Released | events.Refused)
        # What is given back after somebody asked for its end does not wait again: it ends.
        or (isinstance(event, events.Cancelled) and event.why == "released")
    }
    held: dict[str, events.Claim] = {}
    for event in story.events:
        if isinstance(event, events.Change):
            held.pop(event.run, None)
        elif isinstance(event, events.Claim):
            for run, earlier in list(held.items()):
                if earlier.holder == event.holder and earlier.req != event.req:
                    del held[run]
                    if (run, earlier.token) not in seen_to:
                        yield f"run {run}: {event.holder} claimed it, forgot it, and went on"
            held[event.run] = event


def _fires(story: Story) -> Iterator[str]:
    times = Counter((event.job, event.due) for event in story.events if isinstance(event, events.Fire))
    for (job, due), count in times.items():
        if count > 1:
            yield f"job {job} fired {count} times for {due}"


def _kept(story: Story) -> Iterator[str]:
    kept = {str(one.id) for one in story.runs}
    for event in story.events:
        match event:
            case events.Fire(run=run) | events.Enqueue(run=run) if run not in kept:
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
    moved = _moved(story)
    for one in story.runs:
        since = max(one.due, moved.get(str(one.job_id), one.due))
        if one.status is ExecutionStatus.QUEUED and since < until:
            yield f"run {one.id} has been claimable since {since} and nobody runs it"


def _moved(story: Story) -> dict[str, datetime]:
    """When a run of a job that lets in few at a time last moved. The next one was let in then, not before."""
    job_of: dict[str, str] = {}
    gated: set[str] = set()
    moved: dict[str, datetime] = {}
    for event in story.events:
        match event:
            case events.SchedSet(job=job) if event.is_gated:
                gated.add(job)
            case events.Fire(run=run, job=job) | events.Enqueue(run=run, job=job):
                job_of[run] = job
            case events.Change(run=run, db=datetime() as db) if job_of[run] in gated:
                moved[job_of[run]] = db
            case _:
                pass
    return moved
