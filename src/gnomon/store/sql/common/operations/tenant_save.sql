INSERT INTO tenants (id, name, weight, max_concurrent, created_at)
VALUES (:id, :name, :weight, :max_concurrent, :now)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, weight = excluded.weight, max_concurrent = excluded.max_concurrent
