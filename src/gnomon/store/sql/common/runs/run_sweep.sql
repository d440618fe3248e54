-- The statuses of SWEPT in core/runs/state.py.
UPDATE task_instances SET status = 'CANCELLED'
WHERE dag_run_id = :run_id AND status IN ('WAITING', 'HELD', 'HALTED')
