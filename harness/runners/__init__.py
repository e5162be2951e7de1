"""Runners of a Test on a Machine; one file, one runner."""
