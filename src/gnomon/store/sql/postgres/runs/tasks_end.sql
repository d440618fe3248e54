-- Ends of tasks, what follows them, and what their worker claims, in one statement: what apply_endings.sql,
-- runs_go_on.sql and claim.sql do, without asking first. All of it was decided by the runs as this process
-- remembers them. Unless each run still has that version and each lease is held, nothing happens at all.
-- What is released and claimed at once never sees the queue.
WITH locked AS MATERIALIZED (
    SELECT dag_runs.id
    FROM dag_runs
    JOIN unnest(:run_row.id::uuid[], :run_row.version::integer[]) AS known (id, version)
      ON dag_runs.id = known.id AND dag_runs.version = known.version
    ORDER BY dag_runs.id
    FOR NO KEY UPDATE OF dag_runs
), held AS MATERIALIZED (
    -- The condition is looked at once and first: runs are locked before leases.
    @plain_ends(leases.in_run AND (SELECT count(*) FROM locked) = cardinality(:run_row.id::uuid[]) AS condition)
), accepted AS MATERIALIZED (
    SELECT held.* FROM held
    WHERE (SELECT count(*) FROM held) = cardinality(:change.execution_id::uuid[])
), released AS MATERIALIZED (
    @released_tasks
    WHERE EXISTS (SELECT 1 FROM accepted)
), picked AS MATERIALIZED (
    @first_in_queue(EXISTS (SELECT 1 FROM accepted) AS condition)
), claimed AS MATERIALIZED (
    -- Of all that waits and what is new, the first ones. A row of the queue that is not among them stays there.
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim + 1 AS claim,
           attempts, crashes, watched, awaited, in_run, NULL::json AS input, queue_row
    FROM picked
    UNION ALL
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time, 1, 0, 0, false,
           false, true, input, NULL
    FROM released WHERE lane_id = ANY (:lane_ids::integer[])
    ORDER BY priority DESC, due, execution_id
    LIMIT :limit
), told AS (
    @event
    FROM (
        SELECT 1 AS place, tenant_id, @type_of_end AS type, execution_id FROM accepted
        UNION ALL
        SELECT 2, tenant_id, 'execution.created', execution_id FROM released
        UNION ALL
        SELECT 3, tenant_id, 'execution.started', execution_id FROM claimed
    ) AS happened
    WHERE @is_followed GROUP BY place, tenant_id, type ORDER BY place
), queued AS (
    @waiting(:now AS due, nominal_time, true AS in_run)
    FROM released
    WHERE execution_id NOT IN (SELECT execution_id FROM claimed)
), leased AS (
    @lease(attempts, crashes, watched, awaited, in_run)
    FROM claimed
), taken AS (
    DELETE FROM queue WHERE ctid = ANY (ARRAY(SELECT queue_row FROM claimed WHERE queue_row IS NOT NULL))
), requested AS (
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM claimed LIMIT 1
), kept AS (
    @execution('dag' AS trigger, nominal_time, :now AS due, input, dag_run_id, task, round, item)
    FROM released
), runs AS (
    @runs_moved AND EXISTS (SELECT 1 FROM accepted)
), tasks AS (
    @tasks_moved AND EXISTS (SELECT 1 FROM accepted)
), ended AS (
    @ending(last_attempt, worker, started_at, result)
    FROM accepted
), gone AS (
    @leases_gone(accepted AS ended)
)
SELECT claimed.execution_id, claimed.job_id, claimed.revision, claimed.priority, claimed.due,
       claimed.nominal_time, claimed.claim, claimed.attempts, claimed.crashes,
       coalesce(executions.input, claimed.input) AS input,
       claimed.queue_row IS NULL AS is_new, EXISTS (SELECT 1 FROM accepted) AS is_accepted
FROM (SELECT 1) AS always
LEFT JOIN claimed ON true
LEFT JOIN executions ON executions.id = CASE WHEN claimed.queue_row IS NOT NULL THEN claimed.execution_id END
ORDER BY claimed.priority DESC, claimed.due, claimed.execution_id
