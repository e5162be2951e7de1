"""C and C++ source to a Program: clang compiles it to LLVM IR, passes clean that, the engine reads
it.

In: a source file with its defines and include folders. Out: a `program.Program`, whose sites point
to lines of the user's files. Another compiler is a file in weakspot/system/compilers; it has to be
a clang to be used here.
"""
