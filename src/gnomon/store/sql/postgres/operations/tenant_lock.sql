-- One writer of dependencies a tenant at a time: two halves of a cycle must not pass each other unseen.
-- Taken first of all: it comes before the locks of the jobs themselves.
SELECT id FROM tenants WHERE id = :tenant_id FOR NO KEY UPDATE
