"""Real processes on a real PostgreSQL, broken on purpose, and judged by what they left behind."""
