-- The execution of a run ends with the run. A time of a backfill is settled by the first end of its run.
WITH gone AS (
    DELETE FROM queue
    USING unnest(:ended_run.id::uuid[], :ended_run.outcome::text[], :ended_run.result::json[],
                 :ended_run.failure_kind::text[], :ended_run.failure_message::text[])
        AS ended_run (id, outcome, result, failure_kind, failure_message)
    WHERE queue.execution_id = ended_run.id
    RETURNING queue.*, ended_run.outcome, ended_run.result, ended_run.failure_kind, ended_run.failure_message
), freed AS (
    DELETE FROM unique_keys USING gone WHERE unique_keys.execution_id = gone.execution_id
), told AS (
    @event(@type_of_end AS type)
    FROM gone WHERE @is_followed GROUP BY tenant_id, outcome
), settled AS (
    UPDATE backfill_times
    SET state = (SELECT gone.outcome FROM gone WHERE gone.execution_id = backfill_times.execution_id)
    WHERE execution_id = ANY (ARRAY(SELECT gone.execution_id FROM gone WHERE gone.nominal_time IS NOT NULL))
      AND state = 'RUNNING'
), completed AS (
    @job_completed(gone AS ended)
)
@ending(result, failure_kind, failure_message)
FROM gone
