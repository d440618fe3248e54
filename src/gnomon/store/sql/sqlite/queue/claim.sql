-- SQLite has one writer, so choosing and taking cannot interleave with another claim.
@first_in_queue;

@request_once;

@picked_leased;

SELECT picked.execution_id, picked.job_id, picked.revision, picked.priority, picked.due,
       picked.nominal_time, picked.claim, picked.attempts, picked.crashes, executions.input
FROM picked JOIN executions ON executions.id = picked.execution_id
ORDER BY picked.rowid
