-- Where an execution waits, and how its gate stands: the same counts as those by which it opens.
SELECT queue.execution_id, queue.job_id, queue.tenant_id, queue.priority, queue.due, queue.waits_for,
       lanes.queue AS lane_queue, lanes.kind AS lane_kind, lanes.capabilities AS lane_capabilities, jobs.slots,
       executions.dag_run_id, queue.crashes,
       (SELECT count(*) FROM leases WHERE leases.job_id = queue.job_id AND leases.watched)
       + (SELECT count(*) FROM queue AS ready
          WHERE ready.job_id = queue.job_id AND ready.watched
            AND (ready.waits_for IS NULL OR ready.waits_for IN ('tasks', 'empty_worker'))) AS taken,
       tenants.max_concurrent AS tenant_limit,
       CASE WHEN tenants.max_concurrent IS NULL THEN 0
            ELSE (SELECT count(*) FROM leases WHERE leases.tenant_id = tenants.id) END AS tenant_running
FROM queue
JOIN executions ON executions.id = queue.execution_id
JOIN lanes ON lanes.id = queue.lane_id
JOIN jobs ON jobs.id = queue.job_id
JOIN tenants ON tenants.id = queue.tenant_id
WHERE queue.execution_id = :execution_id AND queue.tenant_id = :tenant_id
