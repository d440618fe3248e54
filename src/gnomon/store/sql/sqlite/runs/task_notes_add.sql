INSERT INTO task_notes (dag_run_id, task, round, tenant_id, result, failure_kind, failure_message, at)
SELECT dag_run_id, task, round, tenant_id, result, failure_kind, failure_message, :now
FROM note
WHERE true
ON CONFLICT (dag_run_id, task, round) DO UPDATE
SET result = excluded.result, failure_kind = excluded.failure_kind,
    failure_message = excluded.failure_message, at = excluded.at
