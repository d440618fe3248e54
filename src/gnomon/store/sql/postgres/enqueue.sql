WITH asked AS (
    SELECT * FROM unnest(
        :asked.execution_id::uuid[], :asked.job_id::uuid[], :asked.revision::integer[],
        :asked.lane_id::integer[], :asked.trigger::text[], :asked.priority::smallint[],
        :asked.due::timestamptz[], :asked.unique_key::text[], :asked.input::json[]
    ) AS asked (execution_id, job_id, revision, lane_id, trigger, priority, due, unique_key, input)
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at,
                            unique_key, input)
    SELECT execution_id, :tenant_id, job_id, revision, trigger, priority, due, :now, unique_key, input
    FROM asked
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due)
SELECT execution_id, :tenant_id, job_id, revision, lane_id, priority, due FROM asked
