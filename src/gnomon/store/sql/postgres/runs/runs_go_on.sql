-- What a decision about runs that are locked writes: rows of tasks and of runs as they shall be, and what begins.
WITH tasks AS (
    @tasks_moved
), runs AS (
    @runs_moved
), released AS MATERIALIZED (
    @released_tasks
), kept AS (
    @execution('dag' AS trigger, nominal_time, :now AS due, input, dag_run_id, task, round, item)
    FROM released
), told AS (
    @event('execution.created' AS type)
    FROM released WHERE @is_followed GROUP BY tenant_id
)
@waiting(:now AS due, nominal_time, waits_for, true AS in_run)
FROM released
