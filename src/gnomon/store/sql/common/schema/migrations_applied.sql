SELECT number, name, kind, checksum FROM schema_migrations ORDER BY number
