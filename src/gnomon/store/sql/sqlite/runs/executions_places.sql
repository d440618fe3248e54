SELECT executions.id AS execution_id, executions.dag_run_id, executions.task, executions.round, executions.item,
       dag_runs.dag_id, dag_revisions.revision
FROM wanted
JOIN executions ON executions.id = wanted.id
JOIN dag_runs ON dag_runs.id = executions.dag_run_id
JOIN dag_revisions ON dag_revisions.dag_id = dag_runs.dag_id AND dag_revisions.base = dag_runs.base
WHERE executions.tenant_id = :tenant_id
