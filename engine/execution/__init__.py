"""Execution: walking the graph through a port."""
