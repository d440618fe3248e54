INSERT INTO backfills (id, tenant_id, dag_id, status, first_time, last_time, existing, concurrency, priority, config,
                       created_at, finished_at)
VALUES (:id, :tenant_id, :dag_id, :status, :first_time, :last_time, :existing, :concurrency, :priority, :config,
        :now, :finished_at)
