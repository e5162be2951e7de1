"""Source to litmus tests, and machine code to litmus tests.

In: C and C++ programs, what compilers made of them, executions. Out: `litmus.Test` values and their
text in several languages. `pipeline.generate` runs all steps from source to tests; each package is
one step.
"""
