-- A run and its tasks. For one that cannot begin there are none.
WITH tasks AS (
    INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                                round, items_left, items_failed, items_cancelled)
    SELECT coalesce(task_row.dag_run_id, (:task_row.dag_run_id::uuid[])[1]), task, :tenant_id,
           coalesce(task_row.status, (:task_row.status::text[])[1]),
           coalesce(task_row.parents_left, (:task_row.parents_left::integer[])[1]),
           coalesce(task_row.parents_failed, (:task_row.parents_failed::integer[])[1]),
           coalesce(task_row.parents_skipped, (:task_row.parents_skipped::integer[])[1]),
           coalesce(task_row.round, (:task_row.round::integer[])[1]),
           coalesce(task_row.items_left, (:task_row.items_left::integer[])[1]),
           coalesce(task_row.items_failed, (:task_row.items_failed::integer[])[1]),
           coalesce(task_row.items_cancelled, (:task_row.items_cancelled::integer[])[1])
    FROM unnest(
        :task_row.dag_run_id::uuid[], :task_row.task::integer[], :task_row.status::text[],
        :task_row.parents_left::integer[], :task_row.parents_failed::integer[],
        :task_row.parents_skipped::integer[], :task_row.round::integer[], :task_row.items_left::integer[],
        :task_row.items_failed::integer[], :task_row.items_cancelled::integer[]
    ) AS task_row (dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left,
                   items_failed, items_cancelled)
)
INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                      is_paused, ends_as, config, nesting, outer_run_id, outer_task, outer_round,
                      nominal_time, priority, has_tasks, started_at, finished_at)
VALUES (:id, :tenant_id, :dag_id, :base, :status, :unended, :live, :halted, :completed, :failed, :cancelled,
        :is_paused, :ends_as, :config, :nesting, :outer_run_id, :outer_task, :outer_round,
        :nominal_time, :priority, :has_tasks, :now, :finished_at)
