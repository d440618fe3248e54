-- contract: tables that were made for what is not built yet, and that no program has read or written.
DROP TABLE notifications;
DROP TABLE outbox;
DROP TABLE audit_events;
DROP TABLE secrets;
DROP TABLE users;
