INSERT INTO schema_migrations (number, name, kind, checksum, applied_at)
VALUES (:number, :name, :kind, :checksum, :now)
