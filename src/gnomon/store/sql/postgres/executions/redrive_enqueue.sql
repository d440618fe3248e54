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
    @execution(new_id AS execution_id, 'redrive' AS trigger, nominal_time, :now AS due, input)
    FROM again
), told AS (
    @event('execution.created' AS type, array_agg(new_id) AS subjects)
    FROM again WHERE @is_followed GROUP BY tenant_id
)
@waiting(new_id AS execution_id, :now AS due, nominal_time, waits_for, watched, awaited)
FROM again
RETURNING execution_id
