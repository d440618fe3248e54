-- Ends of tasks, what follows them, and what their worker claims, by what somebody remembers of the runs.
-- Unless each run still has that version and each lease is held, there is nothing left to do.
DELETE FROM change
WHERE (SELECT count(*) FROM run_row JOIN dag_runs ON dag_runs.id = run_row.id AND dag_runs.version = run_row.version)
      < (SELECT count(*) FROM run_row)
   OR (SELECT count(*) FROM change AS one JOIN leases
           ON leases.execution_id = one.execution_id AND leases.claim = one.claim AND leases.in_run)
      < (SELECT count(*) FROM change AS one);

DELETE FROM task_row WHERE NOT EXISTS (SELECT 1 FROM change);

DELETE FROM run_row WHERE NOT EXISTS (SELECT 1 FROM change);

DELETE FROM released WHERE NOT EXISTS (SELECT 1 FROM change);

INSERT INTO endings (execution_id, tenant_id, outcome, last_attempt, claim, attempts, due, worker,
                     started_at, finished_at, result)
SELECT change.execution_id, tenant_id, status, attempt, change.claim, change.attempts, leases.due, worker,
       started_at, :now, result
FROM change JOIN leases ON leases.execution_id = change.execution_id;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id,
       CASE status WHEN 'TIMEOUT' THEN 'execution.timed_out' ELSE 'execution.' || lower(status) END, :now,
       json_group_array(hex(change.execution_id))
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id, status;

DELETE FROM leases WHERE execution_id IN (SELECT execution_id FROM change);

UPDATE task_instances
SET status = task_row.status, parents_left = task_row.parents_left, parents_failed = task_row.parents_failed,
    parents_skipped = task_row.parents_skipped, round = task_row.round, items_left = task_row.items_left,
    items_failed = task_row.items_failed, items_cancelled = task_row.items_cancelled
FROM task_row
WHERE task_instances.dag_run_id = task_row.dag_run_id AND task_instances.task = task_row.task;

UPDATE dag_runs
SET status = run_row.status, unended = run_row.unended, live = run_row.live, completed = run_row.completed,
    failed = run_row.failed, cancelled = run_row.cancelled, finished_at = run_row.finished_at,
    moved_at = :now, version = dag_runs.version + 1
FROM run_row
WHERE dag_runs.id = run_row.id;

INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at,
                        input, dag_run_id, task, round, item)
SELECT execution_id, released.tenant_id, released.job_id, released.revision, 'dag',
       coalesce(released.priority, job_revisions.priority), nominal_time, :now, :now, input, dag_run_id, task, round, item
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.created', :now, json_group_array(hex(execution_id))
FROM released WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, in_run)
SELECT execution_id, released.tenant_id, released.job_id, released.revision, lane_id,
       coalesce(released.priority, job_revisions.priority), :now, nominal_time, 1
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

-- As claim.sql does; see there.
DELETE FROM picked;

INSERT INTO picked
SELECT queue.execution_id, tenant_id, job_id, revision, queue.lane_id, queue.priority, queue.due,
       nominal_time, claim + 1, attempts, crashes, watched, awaited, in_run
FROM json_each(:lane_ids) AS lane CROSS JOIN json_each(:priorities) AS level CROSS JOIN queue
WHERE EXISTS (SELECT 1 FROM change)
  AND queue.execution_id IN (
    SELECT waiting.execution_id FROM queue AS waiting
    WHERE waiting.lane_id = lane.value AND waiting.priority = level.value AND waiting.waits_for IS NULL
      AND waiting.due <= :now
    ORDER BY waiting.due, waiting.execution_id
    LIMIT :limit)
ORDER BY queue.priority DESC, queue.due, queue.execution_id
LIMIT :limit;

INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now FROM picked LIMIT 1;

INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
                    claim, attempts, crashes, worker, started_at, lease_until, request_id, watched, awaited,
                    in_run)
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time,
       claim, attempts, crashes, :worker, :now, :lease_until, :request_id, watched, awaited, in_run
FROM picked;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.started', :now, json_group_array(hex(execution_id))
FROM picked WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input, 0 AS is_new,
       EXISTS (SELECT 1 FROM change) AS is_accepted
FROM (SELECT 1) AS always
LEFT JOIN picked ON 1 LEFT JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.rowid
