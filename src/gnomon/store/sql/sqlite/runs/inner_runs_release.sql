INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at,
                        input, dag_run_id, task, round)
SELECT execution_id, released.tenant_id, released.job_id, released.revision, 'dag',
       coalesce(released.priority, job_revisions.priority), nominal_time, :now, :now, input, dag_run_id, task, round
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, tenant_id, 'execution.created', :now, json_group_array(hex(execution_id))
FROM released WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY tenant_id;

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, waits_for,
                   watched, awaited)
SELECT execution_id, released.tenant_id, released.job_id, released.revision, lane_id,
       coalesce(released.priority, job_revisions.priority), :now, nominal_time, CASE WHEN jobs.slots IS NOT NULL THEN 'slot' END, jobs.watched, jobs.awaited
FROM released
JOIN job_revisions ON job_revisions.job_id = released.job_id AND job_revisions.revision = released.revision
JOIN jobs ON jobs.id = released.job_id
