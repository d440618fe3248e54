SELECT dag_run_id, task, round FROM task_holds WHERE until <= :now ORDER BY until LIMIT :limit
