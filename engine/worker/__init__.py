"""What runs in a child process: one generation of one run, or one question about a workflow; never the store."""
