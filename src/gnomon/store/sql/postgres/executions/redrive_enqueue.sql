-- The newest revision of the job, unless the original is wanted. A task has no other than its own: the newest of its
-- job would be a whole run.
WITH again AS MATERIALIZED (
    SELECT redrive.new_id, executions.id, executions.tenant_id, executions.job_id, executions.priority,
           executions.nominal_time, executions.input, chosen.revision, chosen.lane_id, jobs.watched, jobs.awaited,
           CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END AS waits_for
    FROM unnest(:redrive.execution_id::uuid[], :redrive.new_id::uuid[]) AS redrive (execution_id, new_id)
    JOIN executions ON executions.id = redrive.execution_id
    JOIN jobs ON jobs.id = executions.job_id
    JOIN job_revisions AS first ON first.job_id = executions.job_id AND first.revision = executions.revision
    JOIN job_revisions AS chosen ON chosen.job_id = jobs.id
         AND chosen.revision = CASE WHEN :original::boolean OR first.is_task THEN first.revision
                                    ELSE jobs.revision END
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
