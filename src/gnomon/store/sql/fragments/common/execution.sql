-- The record of an execution: inserted when it begins to exist, never changed.
INSERT INTO executions (id, tenant_id, job_id, revision, trigger, priority, nominal_time, due, created_at, unique_key,
                        input, dag_run_id, task, round, item)
SELECT {execution_id}, {tenant_id}, {job_id}, {revision}, {trigger}, {priority}, {nominal_time = NULL}, {due},
       {created_at = :now}, {unique_key = NULL}, {input = NULL}, {dag_run_id = NULL}, {task = NULL}, {round = NULL},
       {item = NULL}
