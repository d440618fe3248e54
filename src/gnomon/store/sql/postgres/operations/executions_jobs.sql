SELECT executions.id, executions.job_id FROM unnest(:wanted.id::uuid[]) AS wanted (id)
JOIN executions ON executions.id = wanted.id
