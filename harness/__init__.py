"""Everything that decides, runs, judges, stores and shows."""
