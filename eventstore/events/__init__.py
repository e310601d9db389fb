"""The catalogue: every event that the log may hold, one module per subject."""
