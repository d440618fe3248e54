-- An execution that waits in the queue.
INSERT INTO queue (execution_id, tenant_id, job_id, revision, lane_id, priority, due, nominal_time, claim, attempts,
                   crashes, waits_for, newer_than, watched, awaited, in_run)
SELECT {execution_id}, {tenant_id}, {job_id}, {revision}, {lane_id}, {priority}, {due}, {nominal_time = NULL},
       {claim = 0}, {attempts = 0}, {crashes = 0}, {waits_for = NULL}, {newer_than = NULL}, {watched = false},
       {awaited = false}, {in_run = false}
