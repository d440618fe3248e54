-- Ask for a run and begin it: what enqueue_plain.sql, run_take.sql, run_add.sql and runs_go_on.sql do one after the
-- other. For a workflow that has changed, may not run or has slots, nothing happens: there is no first row, and all
-- that follows looks for it.
INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at, input)
SELECT :id, :tenant_id, jobs.id, :base, :trigger, job_revisions.priority, :now, :now, :input
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
WHERE jobs.id = :dag_id AND jobs.tenant_id = :tenant_id AND jobs.revision = :base AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, watched, awaited, waits_for)
SELECT executions.id, :tenant_id, jobs.id, :base, job_revisions.lane_id, executions.priority, :now, jobs.watched,
       jobs.awaited, 'tasks'
FROM executions
JOIN jobs ON jobs.id = executions.job_id
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
WHERE executions.id = :id;

INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                      is_paused, ends_as, config, nesting, started_at, finished_at)
SELECT id, :tenant_id, :dag_id, :base, :status, :unended, :live, :halted, :completed, :failed, :cancelled,
       :is_paused, :ends_as, :config, :nesting, :now, :finished_at
FROM executions WHERE id = :id;

INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                            round, items_left, items_failed, items_cancelled)
SELECT executions.id, task_row.task, :tenant_id, task_row.status, parents_left, parents_failed, parents_skipped,
       task_row.round, items_left, items_failed, items_cancelled
FROM executions CROSS JOIN task_row WHERE executions.id = :id;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, :tenant_id, event.value, :now, json_array(hex(executions.id))
FROM executions CROSS JOIN json_each('["execution.created", "execution.started"]') AS event
WHERE executions.id = :id AND EXISTS (SELECT 1 FROM event_followers)
ORDER BY event.key;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, :tenant_id, 'execution.created', :now, json_group_array(hex(released.execution_id))
FROM executions CROSS JOIN released
WHERE executions.id = :id AND EXISTS (SELECT 1 FROM event_followers)
GROUP BY executions.id;

INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at, input, dag_run_id, task,
                        round, item)
SELECT released.execution_id, :tenant_id, :dag_id, released.revision, 'dag', job_revisions.priority, :now, :now,
       released.input, :id, released.task, released.round, released.item
FROM executions CROSS JOIN released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
WHERE executions.id = :id;

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, in_run)
SELECT released.execution_id, :tenant_id, :dag_id, released.revision, job_revisions.lane_id, job_revisions.priority,
       :now, 1
FROM executions CROSS JOIN released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
WHERE executions.id = :id;

SELECT id FROM executions WHERE id = :id
