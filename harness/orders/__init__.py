"""Memory orders: which assignments suffice, what repairs a program, which changes nothing notices.

In: Programs and a Model. Out: minimal sufficient assignments, repairs, mutants.
"""
