"""What workflows add to the million rows, and each of their verbs once."""

from __future__ import annotations

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lease import Leased
from gnomon.core.runs.events import Approve, Cancel, Pause, RerunFailed, Resume
from gnomon.core.values.document import Document
from gnomon.store.protocols.workflows import WorkflowStore
from tests.contract.flows import act, chain, create_dag, start_run, tasks_of
from tests.contract.given import BROKEN, DONE, MINUTE, NOW, ask, claim, decided, request

NAME, KIND = "flow", "task"  # The kind is of nobody else, so that claims find these.
LARGE = {"dag_runs", "task_instances", "task_holds", "task_notes"}

# Runs of ten tasks, half of them under way, each with a task that waits for an event.
LOAD = """
INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed,
                      cancelled, is_paused, config, nesting, started_at, finished_at)
SELECT id, '{tenant}', job_id, 1, CASE n % 2 WHEN 0 THEN 'RUNNING' ELSE 'COMPLETED' END, 0, 0, 0, 10, 0,
       0, false, '{{}}', 0, '{now}', CASE n % 2 WHEN 0 THEN NULL ELSE timestamptz '{now}' END
FROM numbers WHERE n <= {runs};
INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed,
                            parents_skipped, round, items_left, items_failed, items_cancelled)
SELECT id, task, '{tenant}', 'WAITING', 1, 0, 0, 0, 0, 0, 0
FROM numbers, generate_series(0, 9) AS task WHERE n <= {runs};
INSERT INTO task_holds (dag_run_id, task, tenant_id, round, event, correlation, until)
SELECT id, 0, '{tenant}', 1, 'paid', n::text, timestamptz '{now}' + n * interval '1 second'
FROM numbers WHERE n <= {runs};
INSERT INTO task_notes (dag_run_id, task, round, tenant_id, result, at)
SELECT id, 0, 1, '{tenant}', '{{}}', '{now}' FROM numbers WHERE n <= {runs};
"""


async def use_every_verb_of_workflows(flows: WorkflowStore) -> None:
    tasks = tasks_of({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, kind=KIND)
    waits = {"name": "paid", "depends_on": ["d"], "event": {"name": "paid", "correlation": "x"}}
    asks = {"name": "fine", "depends_on": ["paid"], "approval": {}}
    dag = await create_dag(flows, [*tasks, waits, asks], NAME)
    assert not (await flows.runs.wait_for_us(now=NOW)).is_due
    run_id = await start_run(flows, dag)
    [first] = await claim(flows, kinds=frozenset({KIND}))
    both = await handed_over(flows, first)
    assert len(both) == 2
    [last] = await handed_over(flows, *both)
    await flows.executions.apply([decided(last, BROKEN)], now=NOW)
    await act(flows, run_id, RerunFailed())
    [last] = await claim(flows, kinds=frozenset({KIND}))
    await act(flows, run_id, Pause())
    await act(flows, run_id, Resume())
    await flows.executions.apply([decided(last, DONE)], now=NOW)
    assert await flows.runs.send(DEFAULT_TENANT, "paid", "x", Document("{}"), now=NOW) == 1
    await act(flows, run_id, Approve(5, "ada"))
    await act(flows, await start_run(flows, dag), Cancel())
    assert await flows.runs.begin(dag, ask(dag.job), now=NOW)
    await flows.runs.start(now=NOW, limit=100)
    await flows.runs.expire(now=NOW, limit=100)
    await flows.runs.repair(now=NOW, limit=100)
    await flows.runs.stop_all(dag.job.id, now=NOW, limit=100)
    await start_run(flows, await create_dag(flows, tasks_of(chain(4), kind=KIND)))
    leased = [one for one in await claim(flows, kinds=frozenset({KIND})) if one.job_id != dag.job.id]
    for _ in range(3):
        leased = await handed_over(flows, *leased)
        assert len(leased) == 1


async def read_every_page_of_workflows(flows: WorkflowStore) -> None:
    dag = await flows.dags.named(DEFAULT_TENANT, NAME)
    *_, first = (await flows.runs.page(DEFAULT_TENANT, dag.job.id, limit=10)).items
    assert len(await flows.runs.tasks(DEFAULT_TENANT, first.id, limit=100)) == 6
    assert await flows.runs.recent(DEFAULT_TENANT, [dag.job.id], limit=10)


async def handed_over(flows: WorkflowStore, *leased: Leased) -> list[Leased]:
    decisions = [decided(one, DONE)._replace(in_run=True) for one in leased]
    wanted = request(kinds=frozenset({KIND}))
    done = await flows.executions.apply_and_claim(decisions, wanted, now=NOW, lease_until=NOW + MINUTE)
    return list(done.leased or ())
