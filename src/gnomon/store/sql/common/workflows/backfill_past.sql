-- What became of the times of a range: runs that a schedule fired, and runs of backfills. The newest of a time is last.
SELECT times.nominal_time, times.execution_id, times.state, dag_runs.status, endings.outcome,
       queue.execution_id IS NOT NULL AS is_waiting
FROM (
    SELECT nominal_time, execution_id, NULL AS state FROM occurrences
    WHERE job_id = :dag_id AND tenant_id = :tenant_id AND execution_id IS NOT NULL
      AND nominal_time >= :first_time AND nominal_time <= :last_time
    UNION ALL
    SELECT nominal_time, execution_id, state FROM backfill_times
    WHERE dag_id = :dag_id AND tenant_id = :tenant_id AND execution_id IS NOT NULL
      AND nominal_time >= :first_time AND nominal_time <= :last_time
) AS times
LEFT JOIN dag_runs ON dag_runs.id = times.execution_id
LEFT JOIN endings ON endings.execution_id = times.execution_id
LEFT JOIN queue ON queue.execution_id = times.execution_id
ORDER BY times.nominal_time, times.execution_id
LIMIT :limit
