"""Views: what follows the log later, or is folded on demand."""
