DELETE FROM task_holds WHERE (dag_run_id, task) IN (SELECT dag_run_id, task FROM wanted_task)
