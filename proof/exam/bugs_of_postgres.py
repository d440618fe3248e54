"""What the PostgreSQL texts can get wrong. Worlds run on SQLite, so tests on a real server must catch these.

What both dialects share, in `fragments/common` and in Python, is in bugs_of_the_store.
"""

from __future__ import annotations

from proof.exam.planting import bug

SQL = "store/sql/postgres/"
PARTS = "store/sql/fragments/postgres/"
FENCE = " AND leases.claim = change.claim"

BUGS = (
    # The fence
    bug(
        "postgres: a failure needs no current claim",
        f"{SQL}executions/apply.sql",
        FENCE,
        "",
        caught_by="tests/contract/test_fence.py",
    ),
    bug(
        "postgres: a success needs no current claim",
        f"{PARTS}plain_ends.sql",
        FENCE,
        "",
        caught_by="tests/contract/test_fence.py",
    ),
    bug(
        "postgres: whoever held it may renew it",
        f"{SQL}executions/renew.sql",
        " AND leases.claim = held.claim",
        "",
        caught_by="tests/contract/test_leases.py",
    ),
    bug(
        "postgres: a late renewal takes time away",
        f"{SQL}executions/renew.sql",
        "greatest(leases.lease_until, :lease_until)",
        ":lease_until",
        caught_by="tests/contract/test_leases.py",
    ),
    bug(
        "postgres: the reaper does not look again when it writes",
        f"{SQL}executions/apply.sql",
        "AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at)",
        "",
        caught_by="tests/contract/test_fence.py",
    ),
    bug(
        "postgres: a checkpoint needs no current claim",
        f"{SQL}executions/checkpoints_save.sql",
        " AND leases.claim = saved.claim",
        "",
        caught_by="tests/contract/test_checkpoints.py",
    ),
    # Claims
    bug(
        "postgres: a claim does not wait for the due time",
        f"{PARTS}first_in_queue.sql",
        "AND queue.due <= :now",
        "",
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "postgres: a claim leaves its execution in the queue",
        f"{SQL}queue/claim.sql",
        "DELETE FROM queue WHERE ctid",
        "DELETE FROM queue WHERE false AND ctid",
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "postgres: tokens start again with every claim",
        f"{SQL}queue/claim.sql",
        "@lease(claim + 1 AS claim,",
        "@lease(1 AS claim,",
        caught_by="tests/contract/test_apply.py",
    ),
    bug(
        "postgres: a claim does not note its request",
        f"{SQL}queue/claim.sql",
        "    @request_once\n",
        "    SELECT 1\n",
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "postgres: a claim takes what another one has locked",
        f"{PARTS}first_in_queue.sql",
        "FOR UPDATE SKIP LOCKED",
        "",
        caught_by="tests/concurrency/test_claims.py",
    ),
    # Firings
    bug(
        "postgres: a firing does not look at the cursor",
        f"{SQL}jobs/fire.sql",
        " AND jobs.next_run_time = firing.expected_next_run_time",
        "",
        caught_by="tests/contract/test_firings.py",
    ),
    bug(
        "postgres: a firing does not look at the version",
        f"{SQL}jobs/fire.sql",
        "jobs.version = firing.expected_version AND ",
        "",
        caught_by="tests/contract/test_firings.py",
    ),
    bug(
        "postgres: a replaced run is not asked to stop",
        f"{SQL}queue/replaced_stop.sql",
        "AND NOT cancel_requested",
        "AND NOT cancel_requested AND false",
        caught_by="tests/contract/test_overlap.py",
    ),
    # Runs of workflows
    bug(
        "postgres: what is remembered of a run is believed",
        f"{SQL}runs/tasks_end.sql",
        " AND dag_runs.version = known.version",
        "",
        caught_by="tests/contract/test_handovers.py",
    ),
    bug(
        "postgres: a run that moved keeps its version",
        f"{PARTS}runs_moved.sql",
        "version = dag_runs.version + 1",
        "version = dag_runs.version",
        caught_by="tests/contract/test_handovers.py",
    ),
    # Unique keys, dead letters
    bug(
        "postgres: a unique key outlives its run",
        f"{SQL}executions/apply_endings.sql",
        "DELETE FROM unique_keys WHERE execution_id",
        "DELETE FROM unique_keys WHERE false AND execution_id",
        caught_by="tests/contract/test_enqueue.py",
    ),
    bug(
        "postgres: a unique key is not taken",
        f"{SQL}queue/unique_keys_take.sql",
        "ORDER BY job_id, unique_key",
        "WHERE false",
        caught_by="tests/contract/test_enqueue.py",
    ),
    bug(
        "postgres: a dead letter is redriven as often as asked",
        f"{SQL}executions/redrive_take.sql",
        "AND redriven_as IS NULL",
        "",
        caught_by="tests/contract/test_dead_letters.py",
    ),
    # Gates
    bug(
        "postgres: more runs are let in than there are slots",
        f"{SQL}queue/admit_to_slots.sql",
        "ELSE greatest(slots - taken, 0) END",
        "ELSE greatest(slots - taken, 0) + 1 END",
        caught_by="tests/contract/test_slots.py",
    ),
    bug(
        "postgres: a run does not wait for the jobs it depends on",
        f"{SQL}queue/admit_fulfilled.sql",
        "job_completions.completed_at IS NULL OR ",
        "",
        caught_by="tests/contract/test_waiting_for_jobs.py",
    ),
    bug(
        "postgres: two let in at the same gate at once",
        f"{SQL}queue/gates_lock.sql",
        "FOR UPDATE OF gates",
        "",
        caught_by="tests/concurrency/test_gates.py",
    ),
)
