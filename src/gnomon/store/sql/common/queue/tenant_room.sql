-- How many more a tenant may have at once; NULL: any number. Leases of all its jobs are counted one by one, so only
-- tenants with a limit are asked for.
SELECT tenants.max_concurrent - (SELECT count(*) FROM leases WHERE leases.tenant_id = :tenant_id) AS room
FROM tenants WHERE tenants.id = :tenant_id
