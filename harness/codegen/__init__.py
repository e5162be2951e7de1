"""Compiled code: which compilers are installed, and whether what they made keeps what the source
promises.

In: Tests and Programs, compiler configurations. Out: `values.verdict.Compiled` answers.
"""
