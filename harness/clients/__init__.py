"""Clients: programs that call the operations of a concurrent object in every way, up to a size.

In: a C, C++ or Rust file that defines operations, and what they do in sequence: a kind of object,
or a file with a sequential implementation. Out: Clients, the smallest first, and one Program that
performs any of them, as the implementation does or as the specification says. A new kind of object
is a file of `kinds` and the header of its specification.
"""
