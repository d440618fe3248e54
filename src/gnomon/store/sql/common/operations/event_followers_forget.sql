DELETE FROM event_followers WHERE seen_at < :before
