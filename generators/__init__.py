"""Source to litmus tests: compile, trace, access patterns, critical cycles, text.

`pipeline.generate` goes the whole way; each package below is one step of it.
"""
