CREATE TABLE IF NOT EXISTS schema_migrations (
    number     integer     PRIMARY KEY,
    name       text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('expand', 'contract')),
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL
)
