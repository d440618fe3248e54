INSERT INTO job_revisions (job_id, tenant_id, revision, lane_id, kind, queue, capabilities, priority,
                           timeout_seconds, delivery, payload, retry, schedule, created_at, is_task)
SELECT :dag_id, :tenant_id, revision, lane_id, kind, queue, capabilities, priority, timeout_seconds, delivery,
       payload, retry, schedule, :now, 1
FROM new_task
