-- Tenants that have work: their weight, and how much of what runs is theirs. Whether something is due is a seek by
-- lane and priority: read whole, the queue takes seconds.
SELECT tenants.name, tenants.weight, coalesce(theirs.running, 0) AS running
FROM tenants
LEFT JOIN (SELECT leases.tenant_id, count(*) AS running FROM leases GROUP BY leases.tenant_id) AS theirs
    ON theirs.tenant_id = tenants.id
WHERE theirs.running > 0 OR EXISTS (
    SELECT 1 FROM lanes
    CROSS JOIN (VALUES (9), (8), (7), (6), (5), (4), (3), (2), (1), (0)) AS level
    WHERE lanes.tenant_id = tenants.id
      AND (SELECT queue.due FROM queue
           WHERE queue.lane_id = lanes.id AND queue.priority = level.column1 AND queue.waits_for IS NULL
             AND queue.due <= :now
           ORDER BY queue.due LIMIT 1) IS NOT NULL)
ORDER BY running DESC, tenants.name
LIMIT :limit
