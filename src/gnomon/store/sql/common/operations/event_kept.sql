SELECT EXISTS (SELECT 1 FROM events WHERE position = :position AND batch = :batch) AS known
