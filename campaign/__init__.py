"""The fault campaign: real processes on a real PostgreSQL, killed, paused, cut off and misled."""
