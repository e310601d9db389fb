"""Executors for agent nodes, one a file."""
