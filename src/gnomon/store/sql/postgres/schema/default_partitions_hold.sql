-- The tables whose rows of a span of ids went to the default partition, for lack of another.
SELECT 'executions' AS name WHERE EXISTS (SELECT FROM executions_default WHERE id >= :first AND id < :end)
UNION ALL
SELECT 'endings' WHERE EXISTS (SELECT FROM endings_default WHERE execution_id >= :first AND execution_id < :end)
UNION ALL
SELECT 'attempts' WHERE EXISTS (SELECT FROM attempts_default WHERE execution_id >= :first AND execution_id < :end)
UNION ALL
SELECT 'run_logs' WHERE EXISTS (SELECT FROM run_logs_default WHERE execution_id >= :first AND execution_id < :end)
