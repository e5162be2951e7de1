"""A Test or a Program as text for other tools: litmus C11, assembly by mapping tables, C for CBMC,
C for the native runner.

In: a Test, or a Program to run as a whole. Out: source text. A mapping to an instruction set is a
table in mappings.toml; another output is a module here.
"""
