"""What runs: each service is a step that does one bounded piece of work and returns its pause."""
