"""What may happen next, decided purely: from the facts and a command to a typed result and new events."""
