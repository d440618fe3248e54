SELECT 'queue' AS place WHERE EXISTS (SELECT FROM queue WHERE execution_id >= :first AND execution_id < :end)
UNION ALL
SELECT 'leases' WHERE EXISTS (SELECT FROM leases WHERE execution_id >= :first AND execution_id < :end)
