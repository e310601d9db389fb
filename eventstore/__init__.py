"""Events, the one append-only table that holds them, and everything that proves it whole."""
