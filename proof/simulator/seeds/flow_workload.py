"""Workflows of every shape, and people who run, stop, mend and change them."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from msgspec.structs import replace

from proof.simulator.scenarios.behaviour import Behaviour
from proof.simulator.scenarios.flows import Does, FlowSpec, TaskSpec
from proof.simulator.scenarios.scenario import Act, Verb

# So many worlds have workflows. They cost time, and what they share with jobs is tried in all worlds.
SHARE = 0.5
FLOWS = (1, 4)
TASKS_MAX = 50
SIZES = (3, 6, 6, 10, 10, 16, TASKS_MAX)
RUNS_PER_HOUR = (20.0, 60.0)
ACTS_PER_RUN = 3  # Of those that look at a run, for each that begins one.
STRATEGIES = ("FAIL_DOWNSTREAM", "FAIL_FAST", "CONTINUE", "PAUSE")
RULES = ("all_success", "all_done", "one_success", "one_failed", "none_failed")
ITEMS = (0, 1, 3, 8)
NOWHERE = "nowhere"  # A workflow that does not exist.
FIRST_ACT = 2_000_000  # After all others, whose numbers must not change.

_LOOKS = (
    *(Verb.MEND,) * 4, *(Verb.DECIDE,) * 3, Verb.STOP_RUN, Verb.HOLD_RUN, Verb.LET_GO, Verb.LET_GO, Verb.SEND,
    Verb.REDEFINE,
)  # fmt: skip
_READABLE = frozenset({Does.RUN, Does.FAN_OUT, Does.DAG})


def draw_flows(chance: Random) -> tuple[FlowSpec, ...]:
    """None for most worlds. One may have runs of those before it as tasks."""
    if chance.random() >= SHARE:
        return ()
    flows: list[FlowSpec] = []
    for number in range(chance.randint(*FLOWS)):
        inner = [flow.name for flow in flows if len(flow.tasks) <= 10]
        flows.append(draw_flow(chance, f"flow{number}", inner))
    return tuple(flows)


def draw_flow(chance: Random, name: str, inner: Sequence[str]) -> FlowSpec:
    is_plain = chance.random() < 0.4
    tasks: list[TaskSpec] = []
    for number in range(chance.randint(2, chance.choice(SIZES))):
        tasks.append(_draw_task(chance, f"t{number}", tasks, () if is_plain else inner, is_plain=is_plain))
    return FlowSpec(
        name=name,
        tasks=tuple(tasks),
        strategy=chance.choice(STRATEGIES),
        partial=chance.random() < 0.3,
        every=chance.choice((None, None, None, 180.0, 600.0)),
        overlap=chance.choice(("allow", "skip", "queue", "replace")),
    )


def _draw_task(
    chance: Random, name: str, before: Sequence[TaskSpec], inner: Sequence[str], *, is_plain: bool
) -> TaskSpec:
    after = _draw_parents(chance, before)
    # Most rules are plain, so that most runs get far.
    rule = chance.choice(RULES) if after and chance.random() < 0.4 else "all_success"
    sources = [one.name for one in before if one.name in after and one.does is Does.RUN]
    task = TaskSpec(
        name=name,
        after=after,
        rule=rule,
        max_attempts=chance.choice((1, 1, 3)),
        backoff_base=chance.choice((1.0, 5.0)),
        timeout=chance.choice((None, None, None, 8.0)),
        priority=chance.choice((5, 5, 0, 9)),
        queue=chance.choice(("default", "default", "default", "slow")),
        behaviour=_draw_behaviour(chance),
    )
    kind, source = chance.random(), chance.choice(sources) if sources else None
    has_list = source is not None and rule == "all_success"
    if rule == "all_success":
        reads = tuple(one.name for one in before if one.name in after and one.does in _READABLE)
        task = replace(task, reads=reads)
    if is_plain or kind > 0.35:
        return task
    if kind < 0.12 and has_list:
        return replace(task, does=Does.FAN_OUT, over=source)
    if kind < 0.18 and inner:
        does_not_exist = chance.random() < 0.05
        return replace(task, does=Does.DAG, inner=NOWHERE if does_not_exist else chance.choice(inner))
    if kind < 0.24:
        does = chance.choice((Does.APPROVAL, Does.EVENT))
        return replace(task, does=does, waits=chance.choice((20.0, 60.0, 600.0)))
    return replace(task, only_if=source) if has_list else task


def _draw_parents(chance: Random, before: Sequence[TaskSpec]) -> tuple[str, ...]:
    """Near ones mostly: chains, stars and joins of many come out of it."""
    if not before or chance.random() < 0.15:
        return ()
    near = [task.name for task in before[-8:]]
    count = min(len(near), chance.choice((1, 1, 1, 2, 2, 3, 8)))
    if chance.random() < 0.3:
        near = [task.name for task in before[:2]]  # A star: many wait for one.
        count = min(count, len(near))
    return tuple(sorted(chance.sample(near, count)))


def _draw_behaviour(chance: Random) -> Behaviour:
    return Behaviour(
        longest=chance.choice((0.1, 0.5, 2.0, 5.0, 20.0)),
        long=chance.choice((0.0, 0.0, 0.0, 0.05)),
        long_lasts=40.0,
        fails=chance.choice((0.0, 0.0, 0.0, 0.1, 0.4)),
        fails_for_good=chance.choice((0.0, 0.0, 0.0, 0.05)),
        crashes=chance.choice((0.0, 0.0, 0.0, 0.0, 0.01)),
        snoozes=chance.choice((0.0, 0.0, 0.05)),
        stubborn=chance.choice((0.0, 0.0, 0.5)),
        items=chance.choice(ITEMS),
    )


def draw_flow_acts(
    chance: Random, flows: Sequence[FlowSpec], clients: Sequence[str], *, until: float
) -> tuple[Act, ...]:
    acts: list[Act] = []
    if not flows:
        return ()
    per_hour = chance.uniform(*RUNS_PER_HOUR) * (1 + ACTS_PER_RUN)
    at = 5.0
    while (at := at + chance.expovariate(per_hour / 3600)) < until:
        is_run = chance.random() < 1 / (1 + ACTS_PER_RUN)
        acts.append(
            Act(
                number=FIRST_ACT + len(acts),
                at=round(at, 3),
                client=chance.choice(clients),
                verb=Verb.TRIGGER if is_run else chance.choice(_LOOKS),
                job=chance.choice(flows).name,
            )
        )
    return tuple(acts)


def redrawn(spec: FlowSpec, chance: Random) -> FlowSpec:
    """The same tasks in another order, some with another rule or another behaviour, and one more."""
    tasks = list(spec.tasks)
    chance.shuffle(tasks)
    place = chance.randrange(len(tasks))
    if tasks[place].after and not tasks[place].reads and not tasks[place].over and not tasks[place].only_if:
        tasks[place] = replace(tasks[place], rule=chance.choice(RULES))
    if len(tasks) < TASKS_MAX:
        after = (chance.choice(tasks).name,)
        name = f"x{chance.randrange(1_000_000)}"
        tasks.insert(0, TaskSpec(name=name, after=after, rule="all_done", behaviour=_draw_behaviour(chance)))
    return replace(spec, tasks=tuple(tasks))
