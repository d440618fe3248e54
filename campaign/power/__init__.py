"""What is left of an SQLite file when the power goes: all that was synced, and any part of what was not."""
