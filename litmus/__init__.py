"""The corpus: a folder a structure."""
