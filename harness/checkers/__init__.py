"""Deciders of a Test under a Model; one file, one checker."""
