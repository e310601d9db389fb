"""The commands, one intent per file."""
