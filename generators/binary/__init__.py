"""From machine code back to litmus tests in assembly.

In: the object file of a Test's threads, or the executed code of a program's operations. Out: Tests.
`objects` makes and reads object files, `operations` finds a Test's accesses in a program's code,
`isa` has one file per instruction set.
"""
