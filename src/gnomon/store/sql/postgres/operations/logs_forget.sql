WITH gone AS (
    DELETE FROM run_logs USING (
        SELECT execution_id, claim, number FROM run_logs
        WHERE execution_id = ANY (:wanted.id::uuid[])
        LIMIT :limit
    ) AS old
    WHERE run_logs.execution_id = old.execution_id AND run_logs.claim = old.claim
      AND run_logs.number = old.number
    RETURNING 1
)
SELECT count(*) AS count FROM gone
