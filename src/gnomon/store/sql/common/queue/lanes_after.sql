-- New lanes, and all of tenants with a limit: who is not among these has none (any more).
SELECT lanes.id AS lane_id, lanes.tenant_id, lanes.queue, lanes.kind, lanes.capabilities,
       tenants.max_concurrent IS NOT NULL AS limited
FROM lanes JOIN tenants ON tenants.id = lanes.tenant_id
WHERE lanes.id > :after OR tenants.max_concurrent IS NOT NULL
ORDER BY lanes.id
