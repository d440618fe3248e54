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
    @execution(:tenant_id AS tenant_id, unique_key, input)
    FROM asked
), told AS (
    @event(:tenant_id AS tenant_id, 'execution.created' AS type)
    FROM asked WHERE @is_followed HAVING count(*) > 0
)
@waiting(:tenant_id AS tenant_id, waits_for, watched, awaited)
FROM asked
