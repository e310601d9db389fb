"""The files that ``runwright init`` writes; the code among them is run and type-checked as it stands."""
