SELECT execution_id
FROM leases
WHERE lease_until < :before
ORDER BY lease_until, execution_id
LIMIT :limit
