-- An ended execution never changes again, so what was seen as spent still is.
DELETE FROM attempts WHERE execution_id IN (SELECT wanted.id FROM wanted);

DELETE FROM checkpoints WHERE execution_id IN (SELECT wanted.id FROM wanted);

DELETE FROM dead_letters WHERE execution_id IN (SELECT wanted.id FROM wanted);

DELETE FROM task_instances WHERE dag_run_id IN (SELECT wanted.id FROM wanted);

DELETE FROM task_notes WHERE dag_run_id IN (SELECT wanted.id FROM wanted);

DELETE FROM dag_runs WHERE id IN (SELECT wanted.id FROM wanted);

DELETE FROM endings WHERE execution_id IN (SELECT wanted.id FROM wanted);

DELETE FROM executions WHERE id IN (SELECT wanted.id FROM wanted)
