-- What did not end well is rare among the ended: start from the index that holds just that.
SELECT current_executions.*
FROM endings AS unlucky JOIN current_executions ON current_executions.id = unlucky.execution_id
WHERE unlucky.tenant_id = :tenant_id AND unlucky.outcome = :outcome AND unlucky.outcome <> 'COMPLETED'
  AND unlucky.execution_id < :after AND unlucky.execution_id >= :first AND (CAST(:any_job AS boolean) OR current_executions.job_id = :job_id)
ORDER BY unlucky.execution_id DESC
LIMIT :limit
