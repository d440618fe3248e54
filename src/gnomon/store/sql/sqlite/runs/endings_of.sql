SELECT endings.execution_id, endings.outcome FROM wanted JOIN endings ON endings.execution_id = wanted.id
