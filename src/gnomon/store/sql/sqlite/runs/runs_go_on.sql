UPDATE task_instances
SET status = task_row.status, parents_left = task_row.parents_left, parents_failed = task_row.parents_failed,
    parents_skipped = task_row.parents_skipped, round = task_row.round, items_left = task_row.items_left,
    items_failed = task_row.items_failed, items_cancelled = task_row.items_cancelled
FROM task_row
WHERE task_instances.dag_run_id = task_row.dag_run_id AND task_instances.task = task_row.task;

UPDATE dag_runs
SET status = run_row.status, unended = run_row.unended, live = run_row.live, halted = run_row.halted,
    completed = run_row.completed, failed = run_row.failed, cancelled = run_row.cancelled,
    is_paused = run_row.is_paused, ends_as = run_row.ends_as, finished_at = run_row.finished_at,
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

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   in_run)
SELECT execution_id, released.tenant_id, released.job_id, released.revision, lane_id,
       coalesce(released.priority, job_revisions.priority), :now, nominal_time, waits_for, 1
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
