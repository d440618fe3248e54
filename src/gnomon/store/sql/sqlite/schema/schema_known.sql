SELECT count(*) > 0 AS known FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'
