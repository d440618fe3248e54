DELETE FROM claim_requests WHERE request_id IN (
    SELECT request_id FROM claim_requests WHERE claimed_at < :before ORDER BY claimed_at LIMIT :limit)
RETURNING request_id
