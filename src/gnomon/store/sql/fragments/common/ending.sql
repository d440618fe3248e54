-- How an execution ended: written once.
INSERT INTO endings (execution_id, tenant_id, outcome, last_attempt, claim, attempts, due, worker, started_at,
                     finished_at, result, failure_kind, failure_message)
SELECT {execution_id}, {tenant_id}, {outcome}, {last_attempt = NULL}, {claim}, {attempts}, {due}, {worker = NULL},
       {started_at = NULL}, {finished_at = :now}, {result = NULL}, {failure_kind = NULL}, {failure_message = NULL}
