"""Decisions: pure functions from current facts and a command to a typed answer and new events."""
