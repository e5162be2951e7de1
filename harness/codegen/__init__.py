"""The codegen check: whether what compilers made of tests and programs preserves what the source
promises.

In: Tests and Programs, compiler configurations. Out: CodegenComparison values. Compilers are files
in weakspot/system/compilers, instruction sets files in generators/binary/isa.
"""
