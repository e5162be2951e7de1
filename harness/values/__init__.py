"""The values that checkers, runners, judge, store and reports exchange, and how they are written.

In: what tools print, what stores hold. Out: frozen structs (Verdict, Exploration, Histogram,
Finding, Record) and their text: conditions, herd logs, phrases. Nothing here starts a process.
"""
