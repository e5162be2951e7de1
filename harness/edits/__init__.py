"""Edits of sources: other memory orders in place of those that are written, and fences.

In: annotations, with the places that the compiler reports, and the memory orders to write. Out:
the changed text of each file, and what is left to the user. `syntax` parses the source, C, C++ and
Rust have a module each for how a memory order is written.
"""
