-- Neither watched nor awaited: a backfill has slots of its own, and says nothing about the present.
WITH begun AS MATERIALIZED (
    SELECT * FROM unnest(:backfill_time.nominal_time::timestamptz[], :backfill_time.execution_id::uuid[])
        AS given (nominal_time, execution_id)
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at, input)
    SELECT execution_id, :tenant_id, :dag_id, :revision, 'manual', :priority, nominal_time, :now, :now, CAST(:input AS json)
    FROM begun
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, :tenant_id, 'execution.created', :now, array_agg(execution_id)
    FROM begun WHERE EXISTS (SELECT 1 FROM event_followers) HAVING count(*) > 0
), marked AS (
    UPDATE backfill_times SET state = 'RUNNING', execution_id = begun.execution_id
    FROM begun
    WHERE backfill_times.backfill_id = :backfill_id AND backfill_times.nominal_time = begun.nominal_time
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time)
SELECT execution_id, :tenant_id, :dag_id, :revision, :lane_id, :priority, :now, nominal_time
FROM begun
