-- Tasks of runs as the batch `task_row` says.
UPDATE task_instances
SET status = task_row.status, parents_left = task_row.parents_left, parents_failed = task_row.parents_failed,
    parents_skipped = task_row.parents_skipped, round = task_row.round, items_left = task_row.items_left,
    items_failed = task_row.items_failed, items_cancelled = task_row.items_cancelled
FROM task_row
WHERE task_instances.dag_run_id = task_row.dag_run_id AND task_instances.task = task_row.task
