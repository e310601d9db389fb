"""The files that ``runwright init`` writes; both are run and type-checked as they stand."""
