DELETE FROM checkpoints WHERE execution_id = ANY (:wanted.id::uuid[])
