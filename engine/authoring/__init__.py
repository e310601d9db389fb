"""What people write: workflows, nodes, rules, the context their functions see, and the values they use."""
