INSERT INTO jobs (id, tenant_id, name, status, version, revision, shard, next_run_time, tags,
                  dependencies, slots, watched, created_at, updated_at)
SELECT id, tenant_id, name, 'ACTIVE', 1, 1, shard, next_run_time, tags, dependencies, slots, watched,
       :now, :now
FROM new_job;

INSERT INTO job_revisions (job_id, revision, tenant_id, lane_id, kind, queue, capabilities, priority,
                           timeout_seconds, max_concurrent, delivery, payload, retry, schedule, created_at)
SELECT id, 1, tenant_id, lane_id, kind, queue, capabilities, priority, timeout_seconds, max_concurrent,
       delivery, payload, retry, schedule, :now
FROM new_job
