INSERT INTO dag_runs (id, tenant_id, dag_id, base, status, unended, live, halted, completed, failed, cancelled,
                      is_paused, ends_as, config, nesting, outer_run_id, outer_task, outer_round,
                      nominal_time, priority, has_tasks, started_at, finished_at)
VALUES (:id, :tenant_id, :dag_id, :base, :status, :unended, :live, :halted, :completed, :failed, :cancelled,
        :is_paused, :ends_as, :config, :nesting, :outer_run_id, :outer_task, :outer_round,
        :nominal_time, :priority, :has_tasks, :now, :finished_at)
