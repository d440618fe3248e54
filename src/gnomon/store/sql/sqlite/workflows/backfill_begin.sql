@execution(:tenant_id AS tenant_id, :dag_id AS job_id, :revision AS revision, 'manual' AS trigger,
           :priority AS priority, nominal_time, :now AS due, :input AS input)
FROM backfill_time;

@event(:tenant_id AS tenant_id, 'execution.created' AS type)
FROM backfill_time WHERE @is_followed GROUP BY NULL;

@waiting(:tenant_id AS tenant_id, :dag_id AS job_id, :revision AS revision, :lane_id AS lane_id,
         :priority AS priority, :now AS due, nominal_time)
FROM backfill_time;

UPDATE backfill_times SET state = 'RUNNING', execution_id = backfill_time.execution_id
FROM backfill_time
WHERE backfill_times.backfill_id = :backfill_id AND backfill_times.nominal_time = backfill_time.nominal_time
