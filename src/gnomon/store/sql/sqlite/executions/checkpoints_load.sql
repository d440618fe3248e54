SELECT checkpoints.execution_id, claim, state, progress, saved_at
FROM wanted JOIN checkpoints ON checkpoints.execution_id = wanted.id
