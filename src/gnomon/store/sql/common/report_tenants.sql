-- Tenants that have work: their weight, and how much of what runs is theirs.
SELECT tenants.name, tenants.weight, coalesce(theirs.running, 0) AS running
FROM tenants
LEFT JOIN (SELECT leases.tenant_id, count(*) AS running FROM leases GROUP BY leases.tenant_id) AS theirs
    ON theirs.tenant_id = tenants.id
WHERE theirs.running > 0 OR EXISTS (
    SELECT 1 FROM lanes JOIN queue ON queue.lane_id = lanes.id
    WHERE lanes.tenant_id = tenants.id AND queue.waits_for IS NULL AND queue.due <= :now)
ORDER BY running DESC, tenants.name
LIMIT :limit
