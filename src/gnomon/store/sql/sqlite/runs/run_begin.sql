-- Ask for a run and begin it: what enqueue_plain.sql, run_take.sql, run_add.sql and runs_go_on.sql do one after the
-- other. For a workflow that has changed, may not run or has slots, nothing happens: there is no first row, and all
-- that follows looks for it.
@execution(:id AS execution_id, :tenant_id AS tenant_id, jobs.id AS job_id, :base AS revision,
           :trigger AS trigger, job_revisions.priority AS priority, :now AS due, :input AS input)
FROM jobs
JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
WHERE jobs.id = :dag_id AND jobs.tenant_id = :tenant_id AND jobs.revision = :base AND jobs.slots IS NULL
  AND jobs.status NOT IN ('CANCELLED', 'DELETED');

@waiting(executions.id AS execution_id, :tenant_id AS tenant_id, jobs.id AS job_id, :base AS revision,
         job_revisions.lane_id AS lane_id, executions.priority AS priority, :now AS due, 'tasks' AS waits_for,
         jobs.watched AS watched, jobs.awaited AS awaited)
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

@event(:tenant_id AS tenant_id, event.value AS type, json_array(hex(executions.id)) AS subjects)
FROM executions CROSS JOIN json_each('["execution.created", "execution.started"]') AS event
WHERE executions.id = :id AND @is_followed
ORDER BY event.key;

@event(:tenant_id AS tenant_id, 'execution.created' AS type,
       json_group_array(hex(released.execution_id)) AS subjects)
FROM executions CROSS JOIN released
WHERE executions.id = :id AND @is_followed
GROUP BY executions.id;

@execution(released.execution_id AS execution_id, :tenant_id AS tenant_id, :dag_id AS job_id,
           released.revision AS revision, 'dag' AS trigger, job_revisions.priority AS priority, :now AS due,
           released.input AS input, :id AS dag_run_id, released.task AS task, released.round AS round,
           released.item AS item)
FROM executions CROSS JOIN released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
WHERE executions.id = :id;

@waiting(released.execution_id AS execution_id, :tenant_id AS tenant_id, :dag_id AS job_id,
         released.revision AS revision, job_revisions.lane_id AS lane_id, job_revisions.priority AS priority,
         :now AS due, 1 AS in_run)
FROM executions CROSS JOIN released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
WHERE executions.id = :id;

SELECT id FROM executions WHERE id = :id
