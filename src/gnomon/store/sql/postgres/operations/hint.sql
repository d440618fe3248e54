-- On a connection of its own, outside any transaction: a NOTIFY makes the commits of all notifiers queue up.
-- Channels belong to a database; the number of the schema tells two Gnomons in one database apart.
SELECT pg_notify('gnomon_' || pg_namespace.oid, topic)
FROM pg_namespace, unnest(:topics::text[]) AS topic
WHERE nspname = current_schema()
