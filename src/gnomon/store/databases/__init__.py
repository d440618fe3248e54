"""The two databases: connections, statements, transactions, batches, hints, file locks.

In: the name of a statement and bound values.
Out: rows, or a typed error. Only this room knows asyncpg, sqlite3 and how a value lies in a column.
Kept inside: `connections`, `one_thread`, `postgres_partitions`.
"""
