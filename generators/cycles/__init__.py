"""A Program's interleavings to litmus tests: access patterns, critical cycles, shapes, variants.

In: the traces of a Program, or a witness of the explorer. Out: `litmus.Test` values, named as diy7
names them (Alglave, Maranget, Sarkar, Sewell: "Fences in Weak Memory Models", CAV 2010). A new
family of cycles is a line in the table of shapes.py.
"""
