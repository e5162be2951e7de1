"""Questions and their answers: plans, their execution, and where answers are stored.

In: what the user names, models, checkers, runners, machines. Out: a Record, in memory or in a
folder.
"""
