-- `input` travels as text: a user's own connection may have ideas of its own about json.
WITH asked AS MATERIALIZED (
    SELECT given.execution_id, coalesce(given.job_id, (:asked.job_id::uuid[])[1]) AS job_id,
           coalesce(given.revision, (:asked.revision::integer[])[1]) AS revision,
           coalesce(given.lane_id, (:asked.lane_id::integer[])[1]) AS lane_id,
           coalesce(given.trigger, (:asked.trigger::text[])[1]) AS trigger,
           coalesce(given.priority, (:asked.priority::smallint[])[1]) AS priority,
           coalesce(given.due, (:asked.due::timestamptz[])[1]) AS due, given.unique_key, given.input::json AS input,
           given.waits_for, coalesce(given.watched, false) AS watched,
           coalesce(given.awaited, false) AS awaited
    FROM unnest(
        :asked.execution_id::uuid[], :asked.job_id::uuid[], :asked.revision::integer[],
        :asked.lane_id::integer[], :asked.trigger::text[], :asked.priority::smallint[],
        :asked.due::timestamptz[], :asked.unique_key::text[], :asked.input::text[],
        :asked.waits_for::text[], :asked.watched::boolean[], :asked.awaited::boolean[]
    ) AS given (execution_id, job_id, revision, lane_id, trigger, priority, due, unique_key, input,
                waits_for, watched, awaited)
), kept AS (
    INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at,
                            unique_key, input)
    SELECT execution_id, :tenant_id, job_id, revision, trigger, priority, due, :now, unique_key, input
    FROM asked
), told AS (
    INSERT INTO events (batch, tenant_id, type, at, subjects)
    SELECT pg_current_xact_id()::text::bigint, :tenant_id, 'execution.created', :now, array_agg(execution_id)
    FROM asked WHERE EXISTS (SELECT 1 FROM event_followers) HAVING count(*) > 0
)
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, waits_for, watched,
                   awaited)
SELECT execution_id, :tenant_id, job_id, revision, lane_id, priority, due, waits_for, watched, awaited
FROM asked
