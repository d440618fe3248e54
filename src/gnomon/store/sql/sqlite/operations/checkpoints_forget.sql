DELETE FROM checkpoints WHERE execution_id IN (SELECT wanted.id FROM wanted)
