-- A task that runs another workflow: an execution of that one, like any other, which knows whose task it is.
WITH released AS MATERIALIZED (
    SELECT given.*, job_revisions.lane_id, coalesce(given.own_priority, job_revisions.priority) AS priority, jobs.watched, jobs.awaited,
           CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END AS waits_for
    FROM unnest(
        :released.execution_id::uuid[], :released.tenant_id::uuid[], :released.job_id::uuid[],
        :released.revision::integer[], :released.dag_run_id::uuid[], :released.task::integer[],
        :released.round::integer[], :released.input::text[], :released.nominal_time::timestamptz[],
        :released.priority::smallint[]
    ) AS given (execution_id, tenant_id, job_id, revision, dag_run_id, task, round, input, nominal_time,
                own_priority)
    JOIN job_revisions ON job_revisions.job_id = given.job_id AND job_revisions.revision = given.revision
    JOIN jobs ON jobs.id = given.job_id
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at,
                            input, dag_run_id, task, round)
    SELECT execution_id, tenant_id, job_id, revision, 'dag', priority, nominal_time, :now, :now, input::json,
           dag_run_id, task, round
    FROM released
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.created', :now, array_agg(execution_id)
    FROM released WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   watched, awaited)
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time, waits_for, watched,
       awaited
FROM released
