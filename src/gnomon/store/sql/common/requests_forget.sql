DELETE FROM claim_requests WHERE claimed_at < :before
