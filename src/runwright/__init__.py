"""Runwright: a durable workflow runtime for agents. The public names, each loaded when it is first used."""

__version__ = "0.1.0"
