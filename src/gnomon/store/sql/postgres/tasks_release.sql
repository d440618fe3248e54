-- `input` travels as text, as in enqueue.sql. A task waits for no slot: those are for the runs of its workflow.
WITH released AS MATERIALIZED (
    SELECT given.*, job_revisions.lane_id, coalesce(given.own_priority, job_revisions.priority) AS priority
    FROM unnest(
        :released.execution_id::uuid[], :released.tenant_id::uuid[], :released.job_id::uuid[],
        :released.revision::integer[], :released.dag_run_id::uuid[], :released.task::integer[],
        :released.round::integer[], :released.item::integer[], :released.input::text[],
        :released.nominal_time::timestamptz[], :released.waits_for::text[], :released.priority::smallint[]
    ) AS given (execution_id, tenant_id, job_id, revision, dag_run_id, task, round, item, input, nominal_time,
                waits_for, own_priority)
    JOIN job_revisions ON job_revisions.job_id = given.job_id AND job_revisions.revision = given.revision
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at,
                            input, dag_run_id, task, round, item)
    SELECT execution_id, tenant_id, job_id, revision, 'dag', priority, nominal_time, :now, :now, input::json,
           dag_run_id, task, round, item
    FROM released
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, tenant_id, 'execution.created', :now, array_agg(execution_id)
    FROM released WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   in_run)
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time, waits_for, true
FROM released
