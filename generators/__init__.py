"""Source to litmus tests: compile, trace, access patterns, critical cycles, text."""
