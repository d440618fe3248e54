-- Endings of the batch `change`, and the events that tell of them.
@ending(change.execution_id AS execution_id, last_attempt, change.claim AS claim, change.attempts AS attempts,
        leases.due AS due, worker, started_at, result, failure_kind, failure_message)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NULL;

@event(@type_of_end AS type, json_group_array(hex(change.execution_id)) AS subjects)
FROM change JOIN leases ON leases.execution_id = change.execution_id
WHERE change.due IS NULL AND @is_followed GROUP BY tenant_id, outcome
