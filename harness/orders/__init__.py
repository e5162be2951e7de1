"""Memory orders: which assignments suffice, what repairs a program, what each order costs.

In: Programs and a Model, or a Machine. Out: minimal sufficient assignments, repairs, measured
costs, and sources with other memory orders written into them.
"""
