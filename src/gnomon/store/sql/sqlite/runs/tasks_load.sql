SELECT task_instances.*
FROM wanted_task CROSS JOIN task_instances
WHERE task_instances.dag_run_id = wanted_task.dag_run_id AND task_instances.task = wanted_task.task
