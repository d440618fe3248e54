@execution(new_id AS execution_id, executions.tenant_id AS tenant_id, executions.job_id AS job_id,
           CASE WHEN :original OR first.is_task THEN first.revision ELSE jobs.revision END AS revision,
           'redrive' AS trigger, executions.priority AS priority, nominal_time, :now AS due, input)
FROM redrive
JOIN executions ON executions.id = redrive.execution_id
JOIN jobs ON jobs.id = executions.job_id
JOIN job_revisions AS first ON first.job_id = executions.job_id AND first.revision = executions.revision;

@event('execution.created' AS type, json_group_array(hex(new_id)) AS subjects)
FROM redrive JOIN executions ON executions.id = redrive.execution_id
WHERE @is_followed GROUP BY tenant_id;

-- The first statement has chosen the revision.
@waiting(new_id AS execution_id, executions.tenant_id AS tenant_id, executions.job_id AS job_id,
         executions.revision AS revision, executions.priority AS priority, :now AS due, nominal_time,
         CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END AS waits_for, jobs.watched AS watched,
         jobs.awaited AS awaited)
FROM redrive
JOIN executions ON executions.id = redrive.new_id
JOIN job_revisions ON job_revisions.job_id = executions.job_id
                  AND job_revisions.revision = executions.revision
JOIN jobs ON jobs.id = executions.job_id
RETURNING execution_id
