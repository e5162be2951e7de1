"""Processes, tool discovery, caches and append-only files: everything below memory models.

In: paths, command lines, bytes. Out: results of processes, located tools, cached values, journals.
Nothing here knows what a litmus test or a model is.
"""
