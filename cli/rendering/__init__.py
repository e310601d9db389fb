"""What people see: rich objects made from documents, one kind per file."""
