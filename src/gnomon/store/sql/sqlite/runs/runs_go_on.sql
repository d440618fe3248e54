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

@execution(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
           'dag' AS trigger, coalesce(released.priority, job_revisions.priority) AS priority, nominal_time,
           :now AS due, input, dag_run_id, task, round, item)
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

@event('execution.created' AS type)
FROM released WHERE @is_followed GROUP BY tenant_id;

@waiting(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
         coalesce(released.priority, job_revisions.priority) AS priority, :now AS due, nominal_time, waits_for,
         1 AS in_run)
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
