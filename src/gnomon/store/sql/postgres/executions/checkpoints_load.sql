SELECT checkpoints.execution_id, claim, state, progress, saved_at
FROM unnest(:wanted.id::uuid[]) AS wanted (id) JOIN checkpoints ON checkpoints.execution_id = wanted.id
