INSERT INTO job_revisions (job_id, revision, tenant_id, lane_id, kind, queue, capabilities, priority,
                           timeout_seconds, max_concurrent, delivery, payload, retry, schedule, created_at)
VALUES (:job_id, :revision, :tenant_id, :lane_id, :kind, :queue, :capabilities, :priority,
        :timeout_seconds, :max_concurrent, :delivery, :payload, :retry, :schedule, :now)
