INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                            round, items_left, items_failed, items_cancelled)
SELECT dag_run_id, task, :tenant_id, status, parents_left, parents_failed, parents_skipped, round,
       items_left, items_failed, items_cancelled
FROM task_row
