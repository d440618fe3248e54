UPDATE jobs SET awaited = 1, watched = 1
WHERE id IN (SELECT id FROM wanted) AND tenant_id = :tenant_id AND NOT awaited
RETURNING id
