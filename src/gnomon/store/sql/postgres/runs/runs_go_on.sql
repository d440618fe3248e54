-- Rows of tasks and runs as they shall be, and the executions of tasks that begin. One statement, since between
-- two tasks of a chain every round trip counts.
-- `input` travels as text, as in enqueue.sql. A task waits for no slot: those are for the runs of its workflow.
WITH tasks AS (
    UPDATE task_instances
    SET status = coalesce(task_row.status, (:task_row.status::text[])[1]),
        parents_left = coalesce(task_row.parents_left, (:task_row.parents_left::integer[])[1]),
        parents_failed = coalesce(task_row.parents_failed, (:task_row.parents_failed::integer[])[1]),
        parents_skipped = coalesce(task_row.parents_skipped, (:task_row.parents_skipped::integer[])[1]),
        round = coalesce(task_row.round, (:task_row.round::integer[])[1]),
        items_left = coalesce(task_row.items_left, (:task_row.items_left::integer[])[1]),
        items_failed = coalesce(task_row.items_failed, (:task_row.items_failed::integer[])[1]),
        items_cancelled = coalesce(task_row.items_cancelled, (:task_row.items_cancelled::integer[])[1])
    FROM unnest(
        :task_row.dag_run_id::uuid[], :task_row.task::integer[], :task_row.status::text[],
        :task_row.parents_left::integer[], :task_row.parents_failed::integer[],
        :task_row.parents_skipped::integer[], :task_row.round::integer[], :task_row.items_left::integer[],
        :task_row.items_failed::integer[], :task_row.items_cancelled::integer[]
    ) AS task_row (dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left,
                   items_failed, items_cancelled)
    WHERE task_instances.dag_run_id = coalesce(task_row.dag_run_id, (:task_row.dag_run_id::uuid[])[1])
      AND task_instances.task = task_row.task
), runs AS (
    UPDATE dag_runs
    SET status = run_row.status, unended = run_row.unended, live = run_row.live, halted = run_row.halted,
        completed = run_row.completed, failed = run_row.failed, cancelled = run_row.cancelled,
        is_paused = run_row.is_paused, ends_as = run_row.ends_as, finished_at = run_row.finished_at,
        moved_at = :now, version = dag_runs.version + 1
    FROM unnest(
        :run_row.id::uuid[], :run_row.status::text[], :run_row.unended::integer[], :run_row.live::integer[],
        :run_row.halted::integer[], :run_row.completed::integer[], :run_row.failed::integer[],
        :run_row.cancelled::integer[], :run_row.is_paused::boolean[], :run_row.ends_as::text[],
        :run_row.finished_at::timestamptz[]
    ) AS run_row (id, status, unended, live, halted, completed, failed, cancelled, is_paused, ends_as,
                  finished_at)
    WHERE dag_runs.id = run_row.id
), released AS MATERIALIZED (
    SELECT given.execution_id, job_revisions.tenant_id, job_revisions.job_id, given.revision,
           coalesce(given.dag_run_id, (:released.dag_run_id::uuid[])[1]) AS dag_run_id, given.task,
           coalesce(given.round, (:released.round::integer[])[1]) AS round, given.item, given.input,
           given.nominal_time, given.waits_for, job_revisions.lane_id,
           coalesce(given.own_priority, job_revisions.priority) AS priority
    FROM unnest(
        :released.execution_id::uuid[], :released.job_id::uuid[], :released.revision::integer[],
        :released.dag_run_id::uuid[], :released.task::integer[], :released.round::integer[],
        :released.item::integer[], :released.input::text[],
        :released.nominal_time::timestamptz[], :released.waits_for::text[], :released.priority::smallint[]
    ) AS given (execution_id, job_id, revision, dag_run_id, task, round, item, input, nominal_time,
                waits_for, own_priority)
    JOIN job_revisions ON job_revisions.job_id = coalesce(given.job_id, (:released.job_id::uuid[])[1])
                      AND job_revisions.revision = given.revision
), kept AS (
    @execution('dag' AS trigger, nominal_time, :now AS due, input::json AS input, dag_run_id, task, round, item)
    FROM released
), told AS (
    @event('execution.created' AS type)
    FROM released WHERE @is_followed GROUP BY tenant_id
)
@waiting(:now AS due, nominal_time, waits_for, true AS in_run)
FROM released
