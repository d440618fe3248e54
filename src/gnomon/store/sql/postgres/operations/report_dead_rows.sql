-- Of the tables that are written most: rows that are dead and not yet vacuumed, as far as statistics know.
SELECT relname AS name, n_dead_tup AS dead
FROM pg_stat_user_tables
WHERE schemaname = current_schema() AND relname IN ('queue', 'leases', 'jobs', 'workers', 'unique_keys', 'claim_requests')
ORDER BY relname
