@ending(result, failure_kind, failure_message)
FROM ended_run JOIN queue ON queue.execution_id = ended_run.id;

@event(@type_of_end AS type)
FROM ended_run JOIN queue ON queue.execution_id = ended_run.id
WHERE @is_followed GROUP BY tenant_id, outcome;

INSERT INTO job_completions (job_id, tenant_id, completed_at)
SELECT DISTINCT job_id, tenant_id, :now
FROM ended_run JOIN queue ON queue.execution_id = ended_run.id
WHERE awaited AND outcome = 'COMPLETED'
ON CONFLICT (job_id) DO UPDATE
SET completed_at = max(job_completions.completed_at, excluded.completed_at);

UPDATE backfill_times
SET state = (SELECT ended_run.outcome FROM ended_run WHERE ended_run.id = backfill_times.execution_id)
WHERE execution_id IN (SELECT id FROM ended_run) AND state = 'RUNNING';

DELETE FROM unique_keys WHERE execution_id IN (SELECT id FROM ended_run);

DELETE FROM queue WHERE execution_id IN (SELECT id FROM ended_run)
