-- What the batch `released` lets begin: executions that wait in the queue.
@execution(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
           'dag' AS trigger, coalesce(released.priority, job_revisions.priority) AS priority, nominal_time,
           :now AS due, input, dag_run_id, task, round, item)
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

@event('execution.created' AS type)
FROM released WHERE @is_followed GROUP BY tenant_id;

@waiting(released.tenant_id AS tenant_id, released.job_id AS job_id, released.revision AS revision,
         coalesce(released.priority, job_revisions.priority) AS priority, :now AS due, nominal_time, waits_for,
         true AS in_run)
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
