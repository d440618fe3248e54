SELECT relname::text AS name
FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent IN ('executions'::regclass, 'endings'::regclass, 'attempts'::regclass, 'run_logs'::regclass)
