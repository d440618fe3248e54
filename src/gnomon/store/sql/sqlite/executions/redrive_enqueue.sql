INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due,
                        created_at, input)
SELECT new_id, executions.tenant_id, executions.job_id,
       CASE WHEN :original OR first.is_task THEN first.revision ELSE jobs.revision END,
       'redrive', executions.priority, nominal_time, :now, :now, input
FROM redrive
JOIN executions ON executions.id = redrive.execution_id
JOIN jobs ON jobs.id = executions.job_id
JOIN job_revisions AS first ON first.job_id = executions.job_id AND first.revision = executions.revision;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.created', :now, json_group_array(hex(new_id))
FROM redrive JOIN executions ON executions.id = redrive.execution_id
WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

-- The first statement has chosen the revision.
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   watched, awaited)
SELECT new_id, executions.tenant_id, executions.job_id, executions.revision, lane_id, executions.priority,
       :now, nominal_time, CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END, jobs.watched, jobs.awaited
FROM redrive
JOIN executions ON executions.id = redrive.new_id
JOIN job_revisions ON job_revisions.job_id = executions.job_id
                  AND job_revisions.revision = executions.revision
JOIN jobs ON jobs.id = executions.job_id
RETURNING execution_id
