SELECT due FROM queue WHERE waits_for = 'slot' AND due > :after ORDER BY due LIMIT 1
