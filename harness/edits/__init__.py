"""Memory orders in sources: where they are, which is stronger, and other ones in their place.

In: programs, with the places that the compiler reports, and the memory orders to write. Out: their
annotations, the changed text of each file, and what is left to the user. `syntax` parses the
source; C, C++ and Rust have a module each for how a memory order is written.
"""
