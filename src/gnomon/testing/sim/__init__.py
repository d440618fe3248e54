"""A world in one process: virtual time, nodes that die, a bad network, and production code in the middle."""
