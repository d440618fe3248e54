-- Ask for a run and begin it, in one round trip: what enqueue_plain.sql, run_take.sql, run_add.sql and runs_go_on.sql do
-- one after the other. For a workflow that has changed, may not run or has slots, nothing happens.
WITH dag AS MATERIALIZED (
    SELECT jobs.id, jobs.watched, jobs.awaited, job_revisions.lane_id, job_revisions.priority
    FROM jobs
    JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
    WHERE jobs.id = :dag_id AND jobs.tenant_id = :tenant_id AND jobs.revision = :base AND jobs.slots IS NULL
      AND jobs.status NOT IN ('CANCELLED', 'DELETED')
    FOR KEY SHARE OF jobs
), released AS MATERIALIZED (
    SELECT given.execution_id, given.revision, given.task,
           coalesce(given.round, (:released.round::integer[])[1]) AS round, given.item, given.input,
           what.lane_id, what.priority
    FROM dag CROSS JOIN unnest(
        :released.execution_id::uuid[], :released.revision::integer[], :released.task::integer[],
        :released.round::integer[], :released.item::integer[], :released.input::text[]
    ) AS given (execution_id, revision, task, round, item, input)
    CROSS JOIN LATERAL (
        -- LIMIT fences the planner: without statistics, it may go through all given ones for each revision.
        SELECT job_revisions.lane_id, job_revisions.priority FROM job_revisions
        WHERE job_revisions.job_id = :dag_id AND job_revisions.revision = given.revision
        LIMIT 1
    ) AS what
), told AS (
    @event(:tenant_id AS tenant_id, subjects)
    FROM dag CROSS JOIN (VALUES
        (1, 'execution.created', ARRAY[:id::uuid]), (2, 'execution.started', ARRAY[:id::uuid]),
        (3, 'execution.created', ARRAY(SELECT execution_id FROM released))
    ) AS event (place, type, subjects)
    WHERE @is_followed AND subjects <> '{}'
    ORDER BY place
), queued AS (
    @waiting(:tenant_id AS tenant_id, :dag_id AS job_id, :now AS due, true AS in_run)
    FROM released
), kept AS (
    @execution(:tenant_id AS tenant_id, :dag_id AS job_id, 'dag' AS trigger, :now AS due, input::json AS input,
               :id AS dag_run_id, task, round, item)
    FROM released
), tasks AS (
    INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                                round, items_left, items_failed, items_cancelled)
    SELECT :id, task, :tenant_id, coalesce(task_row.status, (:task_row.status::text[])[1]),
           coalesce(task_row.parents_left, (:task_row.parents_left::integer[])[1]),
           coalesce(task_row.parents_failed, (:task_row.parents_failed::integer[])[1]),
           coalesce(task_row.parents_skipped, (:task_row.parents_skipped::integer[])[1]),
           coalesce(task_row.round, (:task_row.round::integer[])[1]),
           coalesce(task_row.items_left, (:task_row.items_left::integer[])[1]),
           coalesce(task_row.items_failed, (:task_row.items_failed::integer[])[1]),
           coalesce(task_row.items_cancelled, (:task_row.items_cancelled::integer[])[1])
    FROM dag CROSS JOIN unnest(
        :task_row.task::integer[], :task_row.status::text[], :task_row.parents_left::integer[],
        :task_row.parents_failed::integer[], :task_row.parents_skipped::integer[], :task_row.round::integer[],
        :task_row.items_left::integer[], :task_row.items_failed::integer[], :task_row.items_cancelled::integer[]
    ) AS task_row (task, status, parents_left, parents_failed, parents_skipped, round, items_left, items_failed,
                   items_cancelled)
), run AS (
    INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                          is_paused, ends_as, config, nesting, started_at, finished_at)
    SELECT :id, :tenant_id, id, :base, :status, :unended, :live, :halted, :completed, :failed, :cancelled,
           :is_paused, :ends_as, :config, :nesting, :now, :finished_at
    FROM dag
), waits AS (
    @waiting(:id AS execution_id, :tenant_id AS tenant_id, id AS job_id, :base AS revision, :now AS due,
             'tasks' AS waits_for, watched, awaited)
    FROM dag
), asked AS (
    @execution(:id AS execution_id, :tenant_id AS tenant_id, id AS job_id, :base AS revision,
               :trigger AS trigger, :now AS due, :input::text::json AS input)
    FROM dag
)
SELECT id FROM dag
