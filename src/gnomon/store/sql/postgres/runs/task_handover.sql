-- The end of one task, and the one that follows it begins in the hands of the same worker: what tasks_end.sql
-- does, by plain values, for a worker that has room and knows that nobody waits. All of it was decided by what
-- somebody remembers of the run. Unless the run still has that version and the lease is held, nothing happens.
WITH held AS MATERIALIZED (
    -- The run is locked before the lease.
    SELECT leases.tenant_id, leases.due, leases.worker, leases.started_at
    FROM dag_runs CROSS JOIN leases
    WHERE dag_runs.id = :run_id AND dag_runs.version = :run_version
      AND leases.execution_id = :execution_id AND leases.claim = :claim AND leases.in_run
    FOR NO KEY UPDATE OF dag_runs
    FOR UPDATE OF leases
), told AS (
    -- From the last to the first, as in tasks_end.sql.
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, type, :now, ARRAY[subject]
    FROM held CROSS JOIN (
        VALUES (1, CASE :outcome WHEN 'TIMEOUT' THEN 'execution.timed_out' ELSE 'execution.' || lower(:outcome) END,
                :execution_id),
               (2, 'execution.created', :next_id::uuid),
               (3, 'execution.started', :next_id)
    ) AS happened (place, type, subject)
    WHERE EXISTS (SELECT 1 FROM event_followers)
    ORDER BY place
), leased AS (
    INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                        claim, attempts, crashes, worker, started_at, lease_until, request_id, in_run)
    SELECT :next_id, tenant_id, :job_id, :next_revision, :next_lane_id, :next_priority, :now, :nominal_time,
           1, 0, 0, :worker, :now, :lease_until, :request_id, true
    FROM held
), requested AS (
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM held
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at,
                            input, dag_run_id, task, round, item)
    SELECT :next_id, tenant_id, :job_id, :next_revision, 'dag', :next_priority, :nominal_time, :now, :now,
           :next_input, :run_id, :next_task, :next_round, :next_item
    FROM held
), run AS (
    UPDATE dag_runs
    SET status = :run_status, unended = :unended, live = :live, completed = :completed, failed = :failed,
        cancelled = :cancelled, moved_at = :now, version = version + 1
    WHERE id = :run_id AND EXISTS (SELECT 1 FROM held)
), tasks AS (
    UPDATE task_instances
    SET status = task_row.status, parents_left = task_row.parents_left,
        parents_failed = task_row.parents_failed, parents_skipped = task_row.parents_skipped,
        round = task_row.round, items_left = task_row.items_left, items_failed = task_row.items_failed,
        items_cancelled = task_row.items_cancelled
    FROM (
        -- With the run in each row: else the planner may read all tasks of the run to find two of them.
        VALUES (:run_id::uuid, :ended_task::integer, :ended_status::text, :ended_parents_left::integer,
                :ended_parents_failed::integer, :ended_parents_skipped::integer, :ended_round::integer,
                :ended_items_left::integer, :ended_items_failed::integer, :ended_items_cancelled::integer),
               (:run_id, :next_task, :next_status, :next_parents_left, :next_parents_failed,
                :next_parents_skipped, :next_round, :next_items_left, :next_items_failed, :next_items_cancelled)
    ) AS task_row (dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left,
                   items_failed, items_cancelled)
    WHERE task_instances.dag_run_id = task_row.dag_run_id AND task_instances.task = task_row.task
      AND EXISTS (SELECT 1 FROM held)
), ended AS (
    INSERT INTO endings (execution_id, tenant_id, outcome, last_attempt, claim, attempts, due, worker,
                         started_at, finished_at, result)
    SELECT :execution_id, tenant_id, :outcome, :attempt, :claim, :attempts, due, worker, started_at, :now, :result
    FROM held
), gone AS (
    DELETE FROM leases WHERE execution_id = :execution_id AND EXISTS (SELECT 1 FROM held)
)
SELECT 1 FROM held
