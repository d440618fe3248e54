INSERT INTO task_notes (dag_run_id, task, round, tenant_id, result, failure_kind, failure_message, at)
SELECT dag_run_id, task, round, tenant_id, result, failure_kind, failure_message, :now
FROM unnest(
    :note.dag_run_id::uuid[], :note.task::integer[], :note.round::integer[], :note.tenant_id::uuid[],
    :note.result::json[], :note.failure_kind::text[], :note.failure_message::text[]
) AS note (dag_run_id, task, round, tenant_id, result, failure_kind, failure_message)
ON CONFLICT (dag_run_id, task, round) DO UPDATE
SET result = excluded.result, failure_kind = excluded.failure_kind,
    failure_message = excluded.failure_message, at = excluded.at
