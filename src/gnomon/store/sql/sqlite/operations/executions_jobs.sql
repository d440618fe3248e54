SELECT executions.id, executions.job_id FROM wanted JOIN executions ON executions.id = wanted.id
