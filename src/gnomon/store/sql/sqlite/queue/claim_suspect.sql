-- Of the executions whose worker died, the one that has waited longest, for a worker that holds nothing.
DELETE FROM picked;

INSERT INTO picked
SELECT execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim + 1, attempts, crashes,
       watched, awaited, in_run
FROM queue
WHERE waits_for = 'empty_worker' AND lane_id IN (SELECT value FROM json_each(:lane_ids)) AND due <= :now
ORDER BY due, execution_id
LIMIT 1;

@request_once;

@picked_leased;

DELETE FROM suspect_reservations WHERE worker = :worker AND EXISTS (SELECT 1 FROM picked);

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
