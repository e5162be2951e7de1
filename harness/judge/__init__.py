"""What the answers mean together: a Record in, Findings out.

A kind of finding is an entry in `kinds` with a page in docs/findings.
"""
