UPDATE jobs SET awaited = true, watched = true
WHERE jobs.id = ANY (:wanted.id::uuid[]) AND jobs.tenant_id = :tenant_id AND NOT jobs.awaited
RETURNING jobs.id
