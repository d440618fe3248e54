INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, due, created_at,
                        unique_key, input)
SELECT execution_id, :tenant_id, job_id, revision, trigger, priority, due, :now, unique_key, input
FROM asked;

INSERT INTO events (batch, tenant_id, type, at, subjects)
SELECT 0, :tenant_id, 'execution.created', :now, json_group_array(hex(execution_id))
FROM asked WHERE EXISTS (SELECT 1 FROM event_followers) GROUP BY NULL;

INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, waits_for, watched,
                   awaited)
SELECT execution_id, :tenant_id, job_id, revision, lane_id, priority, due, waits_for,
       coalesce(watched, 0), coalesce(awaited, 0)
FROM asked
