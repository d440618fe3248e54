-- What the batch `released` lets begin, with what its revision says.
SELECT given.execution_id, job_revisions.tenant_id, job_revisions.job_id, given.revision,
       coalesce(given.dag_run_id, (:released.dag_run_id::uuid[])[1]) AS dag_run_id, given.task,
       coalesce(given.round, (:released.round::integer[])[1]) AS round, given.item, given.input::json AS input,
       given.nominal_time, given.waits_for, job_revisions.lane_id,
       coalesce(given.own_priority, job_revisions.priority) AS priority
FROM unnest(
    :released.execution_id::uuid[], :released.job_id::uuid[], :released.revision::integer[],
    :released.dag_run_id::uuid[], :released.task::integer[], :released.round::integer[],
    :released.item::integer[], :released.input::text[],
    :released.nominal_time::timestamptz[], :released.waits_for::text[], :released.priority::smallint[]
) AS given (execution_id, job_id, revision, dag_run_id, task, round, item, input, nominal_time, waits_for,
            own_priority)
JOIN job_revisions ON job_revisions.job_id = coalesce(given.job_id, (:released.job_id::uuid[])[1])
                  AND job_revisions.revision = given.revision
