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

@ending(change.execution_id AS execution_id, status AS outcome, attempt AS last_attempt, change.claim AS claim,
        change.attempts AS attempts, leases.due AS due, worker, started_at, result)
FROM change JOIN leases ON leases.execution_id = change.execution_id;

@event(@type_of_end(status AS outcome) AS type,
       json_group_array(hex(change.execution_id)) AS subjects)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE @is_followed GROUP BY tenant_id, status;

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

@execution(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
           'dag' AS trigger, coalesce(released.priority, job_revisions.priority) AS priority, nominal_time,
           :now AS due, input, dag_run_id, task, round, item)
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

@event('execution.created' AS type)
FROM released WHERE @is_followed GROUP BY tenant_id;

@waiting(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
         coalesce(released.priority, job_revisions.priority) AS priority, :now AS due, nominal_time,
         1 AS in_run)
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

@lease(attempts, crashes, watched, awaited, in_run)
FROM picked;

@event('execution.started' AS type)
FROM picked WHERE @is_followed GROUP BY tenant_id;

DELETE FROM queue WHERE execution_id IN (SELECT execution_id FROM picked);

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input, 0 AS is_new,
       EXISTS (SELECT 1 FROM change) AS is_accepted
FROM (SELECT 1) AS always
LEFT JOIN picked ON 1 LEFT JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.rowid
