"""One runner per node kind."""
