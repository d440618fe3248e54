-- The one statement that reads a clock: for engine/clock.py, which hands it on as a value.
-- The machine's, in microseconds; SQLite itself counts milliseconds. 'now' is one instant within a statement.
SELECT CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000 AS at
