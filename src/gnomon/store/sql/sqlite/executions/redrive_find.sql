-- Of a run of a workflow, the revision as people count them.
SELECT dead_letters.execution_id, dead_letters.job_id, dead_letters.redriven_as, executions.dag_run_id,
       executions.task, coalesce(dag_revisions.revision, became.revision) AS revision
FROM redrive
JOIN dead_letters ON dead_letters.execution_id = redrive.execution_id
LEFT JOIN executions ON executions.id = redrive.execution_id
LEFT JOIN executions AS became ON became.id = dead_letters.redriven_as
LEFT JOIN dag_revisions ON dag_revisions.dag_id = became.job_id AND dag_revisions.base = became.revision
WHERE dead_letters.tenant_id = :tenant_id
