-- The end of one task, and the one that follows it begins in the hands of the same worker: what tasks_end.sql
-- does, by plain values, for a worker that has room and knows that the queue is empty. Unless the run still has that
-- version and the lease is held, there is nothing to do.
DELETE FROM picked;

INSERT INTO picked
SELECT :next_id, leases.tenant_id, :job_id, :next_revision, :next_lane_id, :next_priority, :now, :nominal_time,
       1, 0, 0, 0, 0, 1
FROM dag_runs CROSS JOIN leases
WHERE dag_runs.id = :run_id AND dag_runs.version = :run_version
  AND leases.execution_id = :execution_id AND leases.claim = :claim AND leases.in_run;

@ending(:execution_id AS execution_id, leases.tenant_id AS tenant_id, :outcome AS outcome,
        :last_attempt AS last_attempt, :claim AS claim, :attempts AS attempts, leases.due AS due, worker,
        started_at, :result AS result)
FROM picked CROSS JOIN leases WHERE leases.execution_id = :execution_id;

@event(@type_of_end(:outcome AS outcome) AS type,
       json_array(hex(:execution_id)) AS subjects)
FROM picked WHERE @is_followed;

DELETE FROM leases WHERE execution_id = :execution_id AND EXISTS (SELECT 1 FROM picked);

UPDATE task_instances
SET status = :ended_status, parents_left = :ended_parents_left, parents_failed = :ended_parents_failed,
    parents_skipped = :ended_parents_skipped, round = :ended_round, items_left = :ended_items_left,
    items_failed = :ended_items_failed, items_cancelled = :ended_items_cancelled
WHERE dag_run_id = :run_id AND task = :ended_task AND EXISTS (SELECT 1 FROM picked);

UPDATE task_instances
SET status = :next_status, parents_left = :next_parents_left, parents_failed = :next_parents_failed,
    parents_skipped = :next_parents_skipped, round = :next_round, items_left = :next_items_left,
    items_failed = :next_items_failed, items_cancelled = :next_items_cancelled
WHERE dag_run_id = :run_id AND task = :next_task AND EXISTS (SELECT 1 FROM picked);

UPDATE dag_runs
SET status = :run_status, unended = :unended, live = :live, completed = :completed, failed = :failed,
    cancelled = :cancelled, moved_at = :now, version = version + 1
WHERE id = :run_id AND EXISTS (SELECT 1 FROM picked);

@execution('dag' AS trigger, nominal_time, :now AS due, :next_input AS input, :run_id AS dag_run_id,
           :next_task AS task, :next_round AS round, :next_item AS item)
FROM picked;

INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now FROM picked;

@lease(attempts, crashes, in_run)
FROM picked;

@event(json_array(hex(execution_id)) AS subjects)
FROM picked CROSS JOIN (SELECT 'execution.created' AS type UNION ALL SELECT 'execution.started')
WHERE @is_followed;

SELECT 1 FROM picked
