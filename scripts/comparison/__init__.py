"""What scripts/compare-answers is made of: the questions, and the comparison of their answers.

Only the standard library is used, since the script runs before anything is installed.
"""
