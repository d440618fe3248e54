-- Rows of a file do not linger: there are none.
SELECT '' AS name, 0 AS dead WHERE FALSE
