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
    @execution('dag' AS trigger, nominal_time, :now AS due, input::json AS input, dag_run_id, task, round)
    FROM released
), told AS (
    @event('execution.created' AS type)
    FROM released WHERE @is_followed GROUP BY tenant_id
)
@waiting(:now AS due, nominal_time, waits_for, watched, awaited)
FROM released
