"""The compiled graph: a definition as plain data, how it is checked, routed and drawn."""
