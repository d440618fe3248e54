"""What a store can get wrong: fences, guards and what belongs together."""

from __future__ import annotations

from proof.exam.planting import Edit, bug

SQL = "store/sql/sqlite/"
PARTS = "store/sql/fragments/"
FENCE = " AND leases.claim = change.claim"

BUGS = (
    bug(
        "an outcome is accepted by the state alone",
        f"{SQL}executions/apply.sql",
        FENCE,
        "",
        Edit(f"{SQL}executions/apply_endings.sql", FENCE, ""),
    ),
    bug("a success needs no current claim", f"{SQL}executions/apply_endings.sql", FENCE, ""),
    bug("a failure needs no current claim", f"{SQL}executions/apply.sql", FENCE, ""),
    bug(
        "whoever held it may renew it",
        f"{SQL}executions/renew.sql",
        " AND leases.claim = held.claim",
        "",
        caught_by="tests/contract/test_leases.py",
    ),
    bug(
        "the reaper does not look again when it writes",
        f"{SQL}executions/apply.sql",
        "AND (change.expired_at IS NULL OR leases.lease_until < change.expired_at)",
        "",
        caught_by="tests/contract/test_fence.py",
    ),
    bug(
        "a late renewal takes time away",
        f"{SQL}executions/renew.sql",
        "max(leases.lease_until, :lease_until)",
        ":lease_until",
    ),
    bug(
        "tokens start again with every claim",
        f"{PARTS}sqlite/first_in_queue.sql",
        "claim + 1, attempts",
        "1, attempts",
    ),
    bug(
        "a claim does not wait for the due time",
        f"{PARTS}sqlite/first_in_queue.sql",
        "AND waiting.due <= :now",
        "",
    ),
    bug(
        "a claim leaves its execution in the queue",
        f"{PARTS}sqlite/picked_leased.sql",
        "DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked)",
        "DELETE FROM queue WHERE 0",
    ),
    bug(
        "the lowest priority comes first",
        f"{PARTS}sqlite/first_in_queue.sql",
        "ORDER BY queue.priority DESC, queue.due",
        "ORDER BY queue.priority, queue.due",
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "a claim that is asked again is answered with nothing",
        "store/executions/executions.py",
        'rows = await self._database.read("claimed", request_id=request.id, worker=request.worker)',
        "rows = []",
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "a claim does not note its request",
        f"{PARTS}common/request_once.sql",
        "WHERE id = :default_tenant AND :is_repeat",
        "WHERE id = :default_tenant AND :is_repeat AND 0",
        Edit(
            f"{PARTS}common/request_once.sql",
            "SELECT tenant_id FROM picked\n",
            "SELECT tenant_id FROM picked WHERE 0\n",
        ),
        caught_by="tests/contract/test_claims.py",
    ),
    bug(
        "a firing does not look at the cursor",
        f"{SQL}jobs/fire.sql",
        "AND jobs.next_run_time = firing.expected_next_run_time",
        "",
    ),
    bug(
        "a firing does not look at the version",
        f"{SQL}jobs/fire.sql",
        "AND jobs.version = firing.expected_version",
        "",
        caught_by="tests/contract/test_firings.py",
    ),
    bug(
        "cursor and runs are written in two transactions",
        "engine/schedulers/scheduler.py",
        "return await self._schedules.fire(firings, now=now)",
        """import dataclasses
            moved = [dataclasses.replace(one, occurrences=(), replaces=False) for one in firings]
            taken = await self._schedules.fire(moved, now=now)
            rest = [
                dataclasses.replace(one, expected_next_run_time=one.next_run_time)
                for one in firings
                if one.job_id in taken and one.next_run_time
            ]
            await self._schedules.fire(rest, now=now)
            return taken""",
    ),
    bug(
        "a cancel loses against a retry",
        f"{SQL}executions/apply.sql",
        "AND leases.cancel_requested);",
        "AND leases.cancel_requested AND 0);",
        caught_by="tests/contract/test_leases.py",
    ),
    bug(
        "an idempotency key is not looked at",
        "store/access/idempotency.py",
        "if idempotency is None:\n        return None",
        "if True:\n        return None",
        caught_by="tests/contract/test_idempotency.py",
    ),
    bug(
        "an idempotency key is kept under the id of the run",
        "store/queue/enqueue.py",
        "first = await first_answer(session, tenant_id, idempotency, [one.id for one in asked], now=now)",
        "key = idempotency and Idempotency(f'{idempotency.key}/{asked[0].id}', idempotency.fingerprint)\n"
        "    first = await first_answer(session, tenant_id, key, [one.id for one in asked], now=now)",
        caught_by="tests/contract/test_idempotency.py",
    ),
    bug(
        "what shall run later runs now",
        "store/queue/enqueue.py",
        "        one.due or now,\n        one.unique_key,",
        "        now,\n        one.unique_key,",
    ),
    bug(
        "a change of a job puts an old time back",
        "store/jobs/jobs.py",
        'if job["next_run_time"] != change.expected_next_run_time:',
        "if False:",
        caught_by="tests/contract/test_stale_changes.py",
    ),
    bug(
        "a unique key outlives its run",
        f"{PARTS}sqlite/changes_leave.sql",
        "DELETE FROM unique_keys WHERE execution_id IN (SELECT execution_id FROM change WHERE due IS NULL);",
        "",
        caught_by="tests/contract/test_enqueue.py",
    ),
    bug(
        "a unique key is not taken",
        f"{SQL}queue/unique_keys_take.sql",
        "FROM wanted_key WHERE true",
        "FROM wanted_key WHERE false",
        caught_by="tests/contract/test_enqueue.py",
    ),
    bug(
        "a dead letter is redriven as often as asked",
        f"{SQL}executions/redrive_take.sql",
        "AND redriven_as IS NULL",
        "",
        caught_by="tests/contract/test_dead_letters.py",
    ),
    bug(
        "a checkpoint needs no current claim",
        f"{SQL}executions/checkpoints_save.sql",
        "FROM saved JOIN leases USING (execution_id, claim)",
        "FROM saved JOIN leases USING (execution_id)",
        caught_by="tests/contract/test_checkpoints.py",
    ),
    bug(
        "more runs are let in than there are slots",
        f"{SQL}queue/admit_to_slots.sql",
        "WHEN slots > taken THEN slots - taken ELSE 0 END",
        "WHEN slots > taken THEN slots - taken ELSE 1 END",
        caught_by="tests/contract/test_slots.py",
    ),
    bug(
        "a run does not wait for the jobs it depends on",
        f"{SQL}queue/admit_fulfilled.sql",
        "job_completions.completed_at IS NULL OR ",
        "",
        caught_by="tests/contract/test_waiting_for_jobs.py",
    ),
    bug(
        "a replaced run is not asked to stop",
        f"{SQL}queue/replaced_stop.sql",
        "watched AND NOT in_run AND NOT cancel_requested",
        "watched AND NOT in_run AND NOT cancel_requested AND 0",
        caught_by="tests/contract/test_overlap.py",
    ),
    bug(
        "a tenant may have one more than its limit",
        "store/queue/claimer.py",
        'left = left if row["room"] is None else max(0, row["room"])',
        'left = left if row["room"] is None else max(0, row["room"]) + 1',
        caught_by="tests/contract/test_tenant_limits.py",
    ),
)
