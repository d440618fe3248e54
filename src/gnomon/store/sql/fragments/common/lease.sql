-- An execution that a worker has claimed.
INSERT INTO leases (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim, attempts,
                    crashes, worker, started_at, lease_until, request_id, watched, awaited, in_run)
SELECT {execution_id}, {tenant_id}, {job_id}, {revision}, {lane_id}, {priority}, {due}, {nominal_time}, {claim},
       {attempts = 0}, {crashes = 0}, {worker = :worker}, {started_at = :now}, {lease_until = :lease_until},
       {request_id = :request_id}, {watched = false}, {awaited = false}, {in_run = false}
