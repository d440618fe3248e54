-- The one statement that reads a clock: for engine/clock.py, which hands it on as a value.
SELECT clock_timestamp() AS at
