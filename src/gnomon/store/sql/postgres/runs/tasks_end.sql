-- Ends of tasks, what follows them, and what their worker claims, in one statement: what apply_endings.sql,
-- runs_go_on.sql and claim.sql do, without asking first. All of it was decided by what somebody remembers of
-- the runs. Unless each run still has that version and each lease is held, nothing happens at all.
-- What is released and claimed at once never sees the queue.
WITH locked AS MATERIALIZED (
    SELECT dag_runs.id
    FROM dag_runs
    JOIN unnest(:run_row.id::uuid[], :run_row.version::integer[]) AS known (id, version)
      ON dag_runs.id = known.id AND dag_runs.version = known.version
    ORDER BY dag_runs.id
    FOR NO KEY UPDATE OF dag_runs
), held AS MATERIALIZED (
    SELECT lease.*, coalesce(change.status, (:change.status::text[])[1]) AS status,
           coalesce(change.attempt, (:change.attempt::text[])[1]) AS attempt,
           coalesce(change.attempts, (:change.attempts::integer[])[1]) AS attempts, change.result
    FROM unnest(
        :change.execution_id::uuid[], :change.claim::integer[], :change.status::text[],
        :change.attempt::text[], :change.attempts::integer[], :change.result::json[]
    ) AS change (execution_id, claim, status, attempt, attempts, result)
    CROSS JOIN LATERAL (
        SELECT leases.execution_id, leases.claim, leases.tenant_id, leases.due, leases.worker,
               leases.started_at
        FROM leases
        WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run
          -- Looked at once and first: runs are locked before leases.
          AND (SELECT count(*) FROM locked) = cardinality(:run_row.id::uuid[])
        FOR UPDATE
    ) AS lease
), accepted AS MATERIALIZED (
    SELECT held.* FROM held
    WHERE (SELECT count(*) FROM held) = cardinality(:change.execution_id::uuid[])
), released AS MATERIALIZED (
    SELECT given.execution_id, job_revisions.tenant_id, job_revisions.job_id, given.revision,
           coalesce(given.dag_run_id, (:released.dag_run_id::uuid[])[1]) AS dag_run_id, given.task,
           coalesce(given.round, (:released.round::integer[])[1]) AS round, given.item, given.input,
           given.nominal_time, job_revisions.lane_id,
           coalesce(given.own_priority, job_revisions.priority) AS priority
    FROM unnest(
        :released.execution_id::uuid[], :released.job_id::uuid[], :released.revision::integer[],
        :released.dag_run_id::uuid[], :released.task::integer[], :released.round::integer[],
        :released.item::integer[], :released.input::text[],
        :released.nominal_time::timestamptz[], :released.priority::smallint[]
    ) AS given (execution_id, job_id, revision, dag_run_id, task, round, item, input, nominal_time,
                own_priority)
    JOIN job_revisions ON job_revisions.job_id = coalesce(given.job_id, (:released.job_id::uuid[])[1])
                      AND job_revisions.revision = given.revision
    WHERE EXISTS (SELECT 1 FROM accepted)
), picked AS MATERIALIZED (
    -- As claim.sql does; see there.
    SELECT found.*
    FROM unnest(:priorities::smallint[]) AS level (priority)
    CROSS JOIN LATERAL (
        SELECT waiting.*
        FROM unnest(:scan.lane_id::integer[], :scan.priority::smallint[], :scan.due::timestamptz[],
                    :scan.execution_id::uuid[]) AS scan (lane_id, priority, due, execution_id)
        CROSS JOIN LATERAL (
            SELECT queue.*, queue.ctid AS place FROM queue
            WHERE queue.lane_id = coalesce(scan.lane_id, (:scan.lane_id::integer[])[1])
              AND queue.priority = scan.priority AND queue.waits_for IS NULL
              AND queue.due <= :now
              AND (queue.due, queue.execution_id) > (coalesce(scan.due, '-infinity'), scan.execution_id)
              AND EXISTS (SELECT 1 FROM accepted)
            ORDER BY queue.due, queue.execution_id
            LIMIT :limit
            FOR UPDATE SKIP LOCKED
        ) AS waiting
        WHERE scan.priority = level.priority
        ORDER BY waiting.due, waiting.execution_id
        LIMIT :limit
    ) AS found
    LIMIT :limit
), claimed AS MATERIALIZED (
    -- Of all that waits and what is new, the first ones. A row of the queue that is not among them stays there.
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim + 1 AS claim,
           attempts, crashes, watched, awaited, in_run, NULL AS input, place
    FROM picked
    UNION ALL
    SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, :now, nominal_time, 1, 0, 0, false,
           false, true, input, NULL
    FROM released WHERE lane_id = ANY (:lane_ids::integer[])
    ORDER BY priority DESC, due, execution_id
    LIMIT :limit
), told AS (
    -- PostgreSQL does what follows from the last to the first. Whoever looks with triggers sees the end of a
    -- task, what it means for the run, what begins, and who claims it.
    @event(subjects)
    FROM (
        SELECT 1 AS place, tenant_id,
               @type_of_end(status AS outcome) AS type,
               array_agg(execution_id) AS subjects
        FROM accepted GROUP BY tenant_id, status
        UNION ALL
        SELECT 2, tenant_id, 'execution.created', array_agg(execution_id) FROM released GROUP BY tenant_id
        UNION ALL
        SELECT 3, tenant_id, 'execution.started', array_agg(execution_id) FROM claimed GROUP BY tenant_id
    ) AS happened
    WHERE @is_followed
    ORDER BY place
), queued AS (
    @waiting(:now AS due, nominal_time, true AS in_run)
    FROM released
    WHERE execution_id NOT IN (SELECT execution_id FROM claimed)
), leased AS (
    @lease(attempts, crashes, watched, awaited, in_run)
    FROM claimed
), taken AS (
    DELETE FROM queue WHERE ctid = ANY (ARRAY(SELECT place FROM claimed WHERE place IS NOT NULL))
), requested AS (
    INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
    SELECT :request_id, tenant_id, :worker, :now FROM claimed LIMIT 1
), kept AS (
    @execution('dag' AS trigger, nominal_time, :now AS due, input::json AS input, dag_run_id, task, round, item)
    FROM released
), runs AS (
    UPDATE dag_runs
    SET status = run_row.status, unended = run_row.unended, live = run_row.live, completed = run_row.completed,
        failed = run_row.failed, cancelled = run_row.cancelled, finished_at = run_row.finished_at,
        moved_at = :now, version = dag_runs.version + 1
    FROM unnest(
        :run_row.id::uuid[], :run_row.status::text[], :run_row.unended::integer[], :run_row.live::integer[],
        :run_row.completed::integer[], :run_row.failed::integer[], :run_row.cancelled::integer[],
        :run_row.finished_at::timestamptz[]
    ) AS run_row (id, status, unended, live, completed, failed, cancelled, finished_at)
    WHERE dag_runs.id = run_row.id AND EXISTS (SELECT 1 FROM accepted)
), tasks AS (
    UPDATE task_instances
    SET status = coalesce(task_row.status, (:task_row.status::text[])[1]),
        parents_left = coalesce(task_row.parents_left, (:task_row.parents_left::integer[])[1]),
        parents_failed = coalesce(task_row.parents_failed, (:task_row.parents_failed::integer[])[1]),
        parents_skipped = coalesce(task_row.parents_skipped, (:task_row.parents_skipped::integer[])[1]),
        round = coalesce(task_row.round, (:task_row.round::integer[])[1]),
        items_left = coalesce(task_row.items_left, (:task_row.items_left::integer[])[1]),
        items_failed = coalesce(task_row.items_failed, (:task_row.items_failed::integer[])[1]),
        items_cancelled = coalesce(task_row.items_cancelled, (:task_row.items_cancelled::integer[])[1])
    FROM unnest(
        :task_row.dag_run_id::uuid[], :task_row.task::integer[], :task_row.status::text[],
        :task_row.parents_left::integer[], :task_row.parents_failed::integer[],
        :task_row.parents_skipped::integer[], :task_row.round::integer[], :task_row.items_left::integer[],
        :task_row.items_failed::integer[], :task_row.items_cancelled::integer[]
    ) AS task_row (dag_run_id, task, status, parents_left, parents_failed, parents_skipped, round, items_left,
                   items_failed, items_cancelled)
    WHERE task_instances.dag_run_id = coalesce(task_row.dag_run_id, (:task_row.dag_run_id::uuid[])[1])
      AND task_instances.task = task_row.task
      AND EXISTS (SELECT 1 FROM accepted)
), ended AS (
    @ending(status AS outcome, attempt AS last_attempt, worker, started_at, result)
    FROM accepted
), gone AS (
    DELETE FROM leases WHERE execution_id = ANY (ARRAY(SELECT accepted.execution_id FROM accepted))
)
SELECT claimed.execution_id, claimed.job_id, claimed.revision, claimed.priority, claimed.due,
       claimed.nominal_time, claimed.claim, claimed.attempts, claimed.crashes,
       coalesce(executions.input, claimed.input::json) AS input,
       claimed.place IS NULL AS is_new, EXISTS (SELECT 1 FROM accepted) AS is_accepted
FROM (SELECT 1) AS always
LEFT JOIN claimed ON true
LEFT JOIN executions ON executions.id = CASE WHEN claimed.place IS NOT NULL THEN claimed.execution_id END
ORDER BY claimed.priority DESC, claimed.due, claimed.execution_id
