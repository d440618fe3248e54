-- Tasks of runs as the batch `task_row` says.
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
