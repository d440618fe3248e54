SELECT id AS lane_id, tenant_id, queue, kind, capabilities FROM lanes WHERE id > :after ORDER BY id
