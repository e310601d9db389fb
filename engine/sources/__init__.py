"""Where workflow code comes from: naming it, loading it fresh, and proving that it is the same code."""
