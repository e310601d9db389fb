"""Transitions: the one way to change durable state."""
