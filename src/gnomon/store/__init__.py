"""DURABLE STATE: verbs by noun over PostgreSQL and SQLite. Stores apply; they never decide."""
