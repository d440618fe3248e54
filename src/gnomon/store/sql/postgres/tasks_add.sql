INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                            round, items_left, items_failed, items_cancelled)
SELECT dag_run_id, task, :tenant_id, status, parents_left, parents_failed, parents_skipped, round,
       items_left, items_failed, items_cancelled
FROM unnest(
    :task_row.dag_run_id::uuid[], :task_row.task::integer[], :task_row.status::text[],
    :task_row.parents_left::integer[], :task_row.parents_failed::integer[],
    :task_row.parents_skipped::integer[], :task_row.round::integer[], :task_row.items_left::integer[],
    :task_row.items_failed::integer[], :task_row.items_cancelled::integer[]
) AS task_row (dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left,
               items_failed, items_cancelled)
