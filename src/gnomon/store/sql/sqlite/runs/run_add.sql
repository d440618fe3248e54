-- A run and its tasks. For one that cannot begin there are none.
INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                      is_paused, ends_as, config, nesting, outer_run_id, outer_task, outer_round,
                      nominal_time, priority, has_tasks, started_at, finished_at)
VALUES (:id, :tenant_id, :dag_id, :base, :status, :unended, :live, :halted, :completed, :failed, :cancelled,
        :is_paused, :ends_as, :config, :nesting, :outer_run_id, :outer_task, :outer_round,
        :nominal_time, :priority, :has_tasks, :now, :finished_at);

INSERT INTO task_instances (dag_run_id, task, tenant_id, status, parents_left, parents_failed, parents_skipped,
                            round, items_left, items_failed, items_cancelled)
SELECT dag_run_id, task, :tenant_id, status, parents_left, parents_failed, parents_skipped, round,
       items_left, items_failed, items_cancelled
FROM task_row
