"""Control projections: one module each, a row class and how events make it."""
