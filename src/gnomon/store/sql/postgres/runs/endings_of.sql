SELECT endings.execution_id, endings.outcome
FROM unnest(:wanted.id::uuid[]) AS wanted (id) JOIN endings ON endings.execution_id = wanted.id
