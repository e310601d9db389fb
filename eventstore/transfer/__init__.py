"""The log on its way out and back in: native JSON Lines, CloudEvents and CSV."""
