SELECT 'gnomon_' || oid AS channel FROM pg_namespace WHERE nspname = current_schema()
