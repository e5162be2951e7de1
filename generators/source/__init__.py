"""C and C++ source to a Program: clang makes LLVM IR of it, passes clean it, the engine reads it.

In: a source file with its defines and include folders. Out: a `program.Program`, whose sites point
into the user's own lines. A further compiler is an entry in `clang`.
"""
