"""The host: the one process that holds the store, supervises workers, and imports no workflow code."""
