WITH new_job AS (
    SELECT * FROM unnest(
        :new_job.id::uuid[], :new_job.tenant_id::uuid[], :new_job.name::text[], :new_job.shard::smallint[],
        :new_job.next_run_time::timestamptz[], :new_job.tags::text[], :new_job.dependencies::text[],
        :new_job.lane_id::integer[], :new_job.kind::text[], :new_job.queue::text[],
        :new_job.capabilities::text[], :new_job.priority::smallint[], :new_job.timeout_seconds::float8[],
        :new_job.max_concurrent::integer[], :new_job.delivery::text[], :new_job.payload::json[],
        :new_job.retry::jsonb[], :new_job.schedule::jsonb[], :new_job.slots::integer[],
        :new_job.watched::boolean[]
    ) AS new_job (
        id, tenant_id, name, shard, next_run_time, tags, dependencies, lane_id, kind, queue, capabilities,
        priority, timeout_seconds, max_concurrent, delivery, payload, retry, schedule, slots, watched
    )
), created AS (
    INSERT INTO jobs (id, tenant_id, name, status, version, revision, shard, next_run_time, tags,
                      dependencies, slots, watched, created_at, updated_at)
    SELECT id, tenant_id, name, 'ACTIVE', 1, 1, shard, next_run_time, tags, dependencies, slots, watched,
           :now, :now
    FROM new_job
)
INSERT INTO job_revisions (job_id, revision, tenant_id, lane_id, kind, queue, capabilities, priority,
                           timeout_seconds, max_concurrent, delivery, payload, retry, schedule, created_at)
SELECT id, 1, tenant_id, lane_id, kind, queue, capabilities, priority, timeout_seconds, max_concurrent,
       delivery, payload, retry, schedule, :now
FROM new_job
