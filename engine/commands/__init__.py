"""Commands: what clients and the host ask of the transitions, what a worker asks, and what a worker is told."""
