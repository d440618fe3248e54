INSERT INTO lanes (tenant_id, queue, kind, capabilities)
VALUES (:tenant_id, :queue, :kind, :capabilities)
ON CONFLICT DO NOTHING
