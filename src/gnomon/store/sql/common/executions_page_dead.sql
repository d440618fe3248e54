-- Failures are found through the dead letters: the executions' own indexes leave out what completion changes.
SELECT current_executions.*
FROM dead_letters JOIN current_executions ON current_executions.id = dead_letters.execution_id
WHERE dead_letters.tenant_id = :tenant_id AND dead_letters.execution_id < :after
  AND (CAST(:any_job AS boolean) OR dead_letters.job_id = :job_id)
  AND current_executions.outcome = :outcome
ORDER BY dead_letters.execution_id DESC
LIMIT :limit
