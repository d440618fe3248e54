DELETE FROM task_holds
USING unnest(:wanted_task.dag_run_id::uuid[], :wanted_task.task::integer[]) AS wanted (dag_run_id, task)
WHERE task_holds.dag_run_id = wanted.dag_run_id AND task_holds.task = wanted.task
