-- One statement, one round trip: for a job without slots that may run. For any other, nothing happens.
-- FOR KEY SHARE as in jobs_for_enqueue: a cancel or delete waits until we have committed.
WITH job AS MATERIALIZED (
    SELECT jobs.id, jobs.revision, jobs.watched, jobs.awaited, job_revisions.lane_id, job_revisions.priority
    FROM jobs
    JOIN job_revisions ON job_revisions.job_id = jobs.id AND job_revisions.revision = jobs.revision
    WHERE jobs.id = :job_id AND jobs.tenant_id = :tenant_id AND jobs.slots IS NULL
      AND jobs.status NOT IN ('CANCELLED', 'DELETED')
    FOR KEY SHARE OF jobs
), asked AS MATERIALIZED (
    SELECT given.execution_id, job.id AS job_id, job.revision, job.lane_id,
           coalesce(given.trigger, (:asked.trigger::text[])[1]) AS trigger,
           coalesce(given.priority, job.priority) AS priority,
           coalesce(given.due, (:asked.due::timestamptz[])[1]) AS due, given.input::json AS input, job.watched,
           job.awaited
    FROM job CROSS JOIN unnest(
        :asked.execution_id::uuid[], :asked.trigger::text[], :asked.priority::smallint[],
        :asked.due::timestamptz[], :asked.input::text[]
    ) AS given (execution_id, trigger, priority, due, input)
), kept AS (
    @execution(:tenant_id AS tenant_id, input)
    FROM asked
), told AS (
    @event(:tenant_id AS tenant_id, 'execution.created' AS type)
    FROM asked WHERE @is_followed HAVING count(*) > 0
), queued AS (
    @waiting(:tenant_id AS tenant_id, watched, awaited)
    FROM asked
)
SELECT id FROM job
