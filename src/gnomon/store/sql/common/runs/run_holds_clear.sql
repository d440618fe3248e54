DELETE FROM task_holds WHERE dag_run_id = :run_id
