-- Ends of tasks, what follows them, and what their worker claims, by the runs as this process remembers them.
-- Unless each run still has that version and each lease is held, there is nothing left to do.
DELETE FROM change
WHERE (SELECT count(*) FROM run_row JOIN dag_runs ON dag_runs.id = run_row.id AND dag_runs.version = run_row.version)
      < (SELECT count(*) FROM run_row)
   OR (SELECT count(*) FROM change AS one JOIN leases
           ON leases.execution_id = one.execution_id AND leases.claim = one.claim AND leases.in_run)
      < (SELECT count(*) FROM change AS one);

DELETE FROM task_row WHERE NOT EXISTS (SELECT 1 FROM change);

DELETE FROM run_row WHERE NOT EXISTS (SELECT 1 FROM change);

DELETE FROM released WHERE NOT EXISTS (SELECT 1 FROM change);

@changes_end;

DELETE FROM leases WHERE execution_id IN (SELECT execution_id FROM change);

@tasks_moved;

@runs_moved;

@tasks_begin;

@first_in_queue(EXISTS (SELECT 1 FROM change) AS condition);

INSERT INTO claim_requests (request_id, tenant_id, worker, claimed_at)
SELECT :request_id, tenant_id, :worker, :now FROM picked LIMIT 1;

@picked_leased;

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input, 0 AS is_new,
       EXISTS (SELECT 1 FROM change) AS is_accepted
FROM (SELECT 1) AS always
LEFT JOIN picked ON 1 LEFT JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.rowid
