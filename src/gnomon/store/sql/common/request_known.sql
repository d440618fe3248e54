SELECT request_id FROM claim_requests WHERE request_id = :request_id
