INSERT INTO job_revisions (job_id, tenant_id, revision, lane_id, kind, queue, capabilities, priority,
                           timeout_seconds, delivery, payload, retry, schedule, created_at, is_task)
SELECT :dag_id, :tenant_id, revision, lane_id, kind, queue, capabilities, priority, timeout_seconds, delivery,
       payload, retry, schedule, :now, true
FROM unnest(
    :new_task.revision::integer[], :new_task.lane_id::integer[], :new_task.kind::text[],
    :new_task.queue::text[], :new_task.capabilities::text[], :new_task.priority::smallint[],
    :new_task.timeout_seconds::float8[], :new_task.delivery::text[], :new_task.payload::json[],
    :new_task.retry::jsonb[], :new_task.schedule::jsonb[]
) AS new_task (revision, lane_id, kind, queue, capabilities, priority, timeout_seconds, delivery, payload,
               retry, schedule)
