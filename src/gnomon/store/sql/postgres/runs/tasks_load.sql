SELECT task_instances.*
FROM unnest(:wanted_task.dag_run_id::uuid[], :wanted_task.task::integer[]) AS wanted (dag_run_id, task)
JOIN task_instances USING (dag_run_id, task)
