"""Reading: the questions that the engine and the command line ask of a store, none of which needs its lock."""
