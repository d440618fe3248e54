INSERT INTO task_holds (dag_run_id, task, tenant_id, round, event, correlation, until)
SELECT * FROM unnest(
    :hold.dag_run_id::uuid[], :hold.task::integer[], :hold.tenant_id::uuid[], :hold.round::integer[],
    :hold.event::text[], :hold.correlation::text[], :hold.until::timestamptz[]
) AS hold (dag_run_id, task, tenant_id, round, event, correlation, until)
