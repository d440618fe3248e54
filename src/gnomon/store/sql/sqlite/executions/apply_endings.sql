-- What apply.sql does with changes that end their execution and say nothing of failures, dead letters or
-- expiry: nearly all.
DELETE FROM change WHERE NOT EXISTS (
    SELECT 1 FROM leases
    WHERE leases.execution_id = change.execution_id AND leases.claim = change.claim AND leases.in_run = :in_run)
RETURNING execution_id, claim, NULL AS job_id;

@changes_end;

@changes_leave
