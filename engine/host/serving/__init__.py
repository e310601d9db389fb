"""Serving clients: connections, operations over the engine, subscriptions; nothing a client sends can stop a host."""
