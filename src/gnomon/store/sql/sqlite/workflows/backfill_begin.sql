INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at, input)
SELECT execution_id, :tenant_id, :dag_id, :revision, 'manual', :priority, nominal_time, :now, :now, :input
FROM backfill_time;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, :tenant_id, 'execution.created', :now, json_group_array(hex(execution_id))
FROM backfill_time WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY NULL;

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time)
SELECT execution_id, :tenant_id, :dag_id, :revision, :lane_id, :priority, :now, nominal_time
FROM backfill_time;

UPDATE backfill_times SET state = 'RUNNING', execution_id = backfill_time.execution_id
FROM backfill_time
WHERE backfill_times.backfill_id = :backfill_id AND backfill_times.nominal_time = backfill_time.nominal_time
