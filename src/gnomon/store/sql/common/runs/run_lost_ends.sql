-- Ends that nobody told the run: of executions that a release which knew no runs has ended.
SELECT task_instances.task, task_instances.round, executions.item, endings.outcome, endings.result
FROM task_instances
JOIN executions ON executions.dag_run_id = task_instances.dag_run_id
               AND executions.task = task_instances.task AND executions.round = task_instances.round
JOIN endings ON endings.execution_id = executions.id
WHERE task_instances.dag_run_id = :run_id AND task_instances.status = 'RELEASED' AND executions.item IS NULL
