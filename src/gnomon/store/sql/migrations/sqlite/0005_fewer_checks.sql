-- expand: no CHECKs on the tables that every execution and every task writes.

-- SQLite compiles them with the statement, once, so it keeps them.
