INSERT INTO task_holds (dag_run_id, task, tenant_id, round, event, correlation, until)
SELECT dag_run_id, task, tenant_id, round, event, correlation, until FROM hold
