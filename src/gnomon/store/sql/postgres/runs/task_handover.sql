-- The end of one task, and the one that follows it begins in the hands of the same worker: what tasks_end.sql
-- does, by plain values, for a worker that has room and knows that the queue is empty. All of it was decided by the
-- run as this process remembers it. Unless the run still has that version and the lease is held, nothing happens.
WITH held AS MATERIALIZED (
    -- The run is locked before the lease.
    SELECT leases.tenant_id, leases.due, leases.worker, leases.started_at
    FROM dag_runs CROSS JOIN leases
    WHERE dag_runs.id = :run_id AND dag_runs.version = :run_version
      AND leases.execution_id = :execution_id AND leases.claim = :claim AND leases.in_run
    FOR NO KEY UPDATE OF dag_runs
    FOR UPDATE OF leases
), told AS (
    @event(ARRAY[subject] AS subjects)
    FROM held CROSS JOIN (
        VALUES (1, @type_of_end(:outcome AS outcome), :execution_id),
               (2, 'execution.created', :next_id::uuid),
               (3, 'execution.started', :next_id)
    ) AS happened (place, type, subject)
    WHERE @is_followed
    ORDER BY place
), leased AS (
    @lease(:next_id AS execution_id, :job_id AS job_id, :next_revision AS revision, :next_lane_id AS lane_id,
           :next_priority AS priority, :now AS due, :nominal_time AS nominal_time, 1 AS claim, true AS in_run)
    FROM held
), requested AS (
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM held
), kept AS (
    @execution(:next_id AS execution_id, :job_id AS job_id, :next_revision AS revision, 'dag' AS trigger,
               :next_priority AS priority, :nominal_time AS nominal_time, :now AS due, :next_input AS input,
               :run_id AS dag_run_id, :next_task AS task, :next_round AS round, :next_item AS item)
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
    @ending(:execution_id AS execution_id, :outcome AS outcome, :last_attempt AS last_attempt, :claim AS claim,
            :attempts AS attempts, worker, started_at, :result AS result)
    FROM held
), gone AS (
    DELETE FROM leases WHERE execution_id = :execution_id AND EXISTS (SELECT 1 FROM held)
)
SELECT 1 FROM held
