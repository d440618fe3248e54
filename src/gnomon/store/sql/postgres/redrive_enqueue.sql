WITH again AS MATERIALIZED (
    SELECT redrive.new_id, executions.*, job_revisions.lane_id, jobs.watched, jobs.awaited,
           CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END AS waits_for
    FROM unnest(:redrive.execution_id::uuid[], :redrive.new_id::uuid[]) AS redrive (execution_id, new_id)
    JOIN executions ON executions.id = redrive.execution_id
    JOIN job_revisions ON job_revisions.job_id = executions.job_id
                      AND job_revisions.revision = executions.revision
    JOIN jobs ON jobs.id = executions.job_id
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due,
                            created_at, input)
    SELECT new_id, tenant_id, job_id, revision, 'redrive', priority, nominal_time, :now, :now, input
    FROM again
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.created', :now, array_agg(new_id)
    FROM again WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   watched, awaited)
SELECT new_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time, waits_for, watched, awaited
FROM again
RETURNING execution_id
