"""The values that checkers, runners, judge, store and reports exchange, and how they are written.

In: what tools print, what stores hold. Out: frozen structs, one file per value or small group
(verdict, witness, histogram, program_run, exploration, codegen, finding, record, claims), functions
that compare them (agreement, state, condition, strength), and their text (descriptions, numbers,
herdlog). The JSON form of a value is a contract. Nothing here starts a process. A new kind of
answer is a new file, and a field of Record.
"""
