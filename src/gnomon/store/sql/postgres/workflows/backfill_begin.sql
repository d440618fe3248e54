-- Neither watched nor awaited: a backfill has slots of its own, and says nothing about the present.
WITH begun AS MATERIALIZED (
    SELECT * FROM unnest(:backfill_time.nominal_time::timestamptz[], :backfill_time.execution_id::uuid[])
        AS given (nominal_time, execution_id)
), kept AS (
    @execution(:tenant_id AS tenant_id, :dag_id AS job_id, :revision AS revision, 'manual' AS trigger,
               :priority AS priority, nominal_time, :now AS due, CAST(:input AS json) AS input)
    FROM begun
), told AS (
    @event(:tenant_id AS tenant_id, 'execution.created' AS type)
    FROM begun WHERE @is_followed HAVING count(*) > 0
), marked AS (
    UPDATE backfill_times SET state = 'RUNNING', execution_id = begun.execution_id
    FROM begun
    WHERE backfill_times.backfill_id = :backfill_id AND backfill_times.nominal_time = begun.nominal_time
)
@waiting(:tenant_id AS tenant_id, :dag_id AS job_id, :revision AS revision, :lane_id AS lane_id,
         :priority AS priority, :now AS due, nominal_time)
FROM begun
