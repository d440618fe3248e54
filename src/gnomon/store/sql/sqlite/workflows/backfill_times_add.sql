INSERT INTO backfill_times (backfill_id, nominal_time, tenant_id, dag_id, state)
SELECT :backfill_id, nominal_time, :tenant_id, :dag_id, 'WAITING' FROM backfill_time
