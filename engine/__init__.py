"""Definitions, decisions, execution: what a run may do next, and the doing of it."""
