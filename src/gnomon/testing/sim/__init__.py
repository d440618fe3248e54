"""A world in one process: virtual time, nodes that die, a network that loses things, and production code in it."""
