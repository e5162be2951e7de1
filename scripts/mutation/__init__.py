"""What scripts/mutate-reductions rewrites the engine's sources with."""
