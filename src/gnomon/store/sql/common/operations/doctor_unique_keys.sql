SELECT unique_keys.execution_id
FROM unique_keys
WHERE NOT EXISTS (SELECT 1 FROM queue WHERE queue.execution_id = unique_keys.execution_id)
  AND NOT EXISTS (SELECT 1 FROM leases WHERE leases.execution_id = unique_keys.execution_id)
LIMIT :limit
