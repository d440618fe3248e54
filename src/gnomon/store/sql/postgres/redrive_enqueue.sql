WITH again AS MATERIALIZED (
    SELECT redrive.new_id, executions.*, job_revisions.lane_id
    FROM unnest(:redrive.execution_id::uuid[], :redrive.new_id::uuid[]) AS redrive (execution_id, new_id)
    JOIN executions ON executions.id = redrive.execution_id
    JOIN job_revisions ON job_revisions.job_id = executions.job_id
                      AND job_revisions.revision = executions.revision
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due,
                            created_at, input)
    SELECT new_id, tenant_id, job_id, revision, 'redrive', priority, nominal_time, :now, :now, input
    FROM again
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time)
SELECT new_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time FROM again
RETURNING execution_id
