-- Tenants that may have no more are found once, and what they have waiting is counted for them alone: mostly there
-- are none.
WITH spent AS MATERIALIZED (
    SELECT tenants.id FROM tenants
    WHERE tenants.max_concurrent IS NOT NULL
      AND tenants.max_concurrent <= (SELECT count(*) FROM leases WHERE leases.tenant_id = tenants.id)
)
SELECT (SELECT count(*) FROM leases) AS running,
       (SELECT count(*) FROM queue WHERE waits_for = 'slot' AND due <= :now) AS blocked_by_job,
       (SELECT coalesce(sum((
            SELECT count(*) FROM lanes JOIN queue ON queue.lane_id = lanes.id
            WHERE lanes.tenant_id = spent.id AND queue.waits_for IS NULL AND queue.due <= :now
        )), 0) FROM spent) AS blocked_by_tenant,
       (SELECT count(*) FROM dead_letters WHERE redriven_as IS NULL) AS dead_letters,
       (SELECT coalesce(sum(slots), 0) FROM workers WHERE status <> 'GONE' AND last_seen_at > :seen_after) AS slots,
       (SELECT count(*) FROM workers WHERE status <> 'GONE' AND last_seen_at > :seen_after) AS workers,
       (SELECT min(next_run_time) FROM jobs WHERE status = 'ACTIVE' AND next_run_time IS NOT NULL) AS next_run_time
