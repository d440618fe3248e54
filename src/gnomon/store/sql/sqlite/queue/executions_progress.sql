-- How far they said they are. Without the states, which may be large.
SELECT checkpoints.execution_id, checkpoints.progress
FROM wanted JOIN checkpoints ON checkpoints.execution_id = wanted.id
WHERE checkpoints.tenant_id = :tenant_id AND checkpoints.progress IS NOT NULL
