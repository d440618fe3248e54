DELETE FROM run_logs WHERE (execution_id, claim, number) IN (
    SELECT execution_id, claim, number FROM run_logs
    WHERE execution_id IN (SELECT wanted.id FROM wanted)
    LIMIT :limit);

SELECT changes() AS count
