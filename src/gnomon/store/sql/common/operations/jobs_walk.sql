SELECT id FROM jobs WHERE id > :after ORDER BY id LIMIT :limit
